// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_drawer.h"

#include "widgets/gallery/gallery_details.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>

namespace normscope::widgets {

GalleryDrawer::GalleryDrawer(QWidget* over, QWidget* parent)
    : ListDrawer({"galleryDrawer", "galleryTitle", "gallerySearch", "galleryEmpty"}, new GalleryList, kWidth,
                 over, parent),
      entries_(static_cast<GalleryList*>(list_)),
      paper_(addChoice("galleryPaper", tr("Paper"))),
      details_(new GalleryDetails(this)) {
    setAccessibleName(tr("Gallery"));
    title_->setText(tr("Gallery of the papers' figures"));
    search_->setPlaceholderText(tr("Find in titles, statements and verdicts"));
    search_->setAccessibleName(tr("Find a figure or table"));
    auto* line = new QFrame(this);
    line->setFrameShape(QFrame::HLine);
    line->setForegroundRole(QPalette::Button);
    column_->addWidget(line);
    column_->addWidget(details_);
    for (QWidget* rows : {static_cast<QWidget*>(entries_), static_cast<QWidget*>(empty_)})
        column_->setStretchFactor(rows, 4);
    column_->setStretchFactor(details_, 5);
    connect(entries_, &GalleryList::chosen, this,
            [this](const QString& id) { details_->setRow(entries_->find(id)); });
    connect(details_, &GalleryDetails::runRequested, this, &GalleryDrawer::runRequested);
    connect(details_, &GalleryDetails::runAgainRequested, this, &GalleryDrawer::runAgainRequested);
    connect(details_, &GalleryDetails::stopRequested, this, &GalleryDrawer::stopRequested);
    connect(details_, &GalleryDetails::sweepRequested, this, &GalleryDrawer::sweepRequested);
    connect(details_, &GalleryDetails::removeRequested, this, &GalleryDrawer::removeRequested);
    connect(details_, &GalleryDetails::exportRequested, this, &GalleryDrawer::exportRequested);
    auto* add = new QPushButton(tr("Add an entry …"), this);
    add->setObjectName(QStringLiteral("galleryAdd"));
    add->setAutoDefault(false);
    add->setToolTip(tr("An entry of your own: a JSON file, as those in resources/gallery"));
    filters_->addWidget(add);
    connect(add, &QPushButton::clicked, this, &GalleryDrawer::addRequested);
}

void GalleryDrawer::open(const QString& id) {
    if (!id.isEmpty()) {
        paper_->setCurrentIndex(0);
        search_->clear();
    }
    appear();
    entries_->select(id);
    entries_->setFocus();
}

void GalleryDrawer::fillPapers() {
    QStringList papers = {tr("All papers")};
    for (const GalleryRow& row : entries_->rows())
        if (const QString paper = QString::fromUtf8(row.entry.paper()); !papers.contains(paper))
            papers << paper;
    QStringList shown;
    for (int i = 0; i < paper_->count(); ++i) shown << paper_->itemText(i);
    if (papers == shown) return;
    const QSignalBlocker quiet(paper_);
    paper_->clear();
    paper_->addItems(papers);
}

void GalleryDrawer::setRows(std::vector<GalleryRow> rows) {
    entries_->setRows(std::move(rows));
    details_->forget();
    fillPapers();
    filter();
    details_->setRow(entries_->find(entries_->selected()));
}

void GalleryDrawer::setRow(GalleryRow row) {
    const QString id = row.id();
    entries_->setRow(std::move(row));
    filter();
    if (id == entries_->selected()) details_->setRow(entries_->find(id));
}

QStringList GalleryDrawer::allIds() const {
    QStringList ids;
    for (const GalleryRow& row : entries_->rows()) ids << row.id();
    return ids;
}

QString GalleryDrawer::searched(const QString& id) const {
    const GalleryRow& row = *entries_->find(id);
    QStringList texts = {id, QString::fromStdString(row.entry.title), sourceText(row.entry),
                         QString::fromStdString(row.entry.statement), stateText(row)};
    for (const auto& count : verdictCounts(row)) texts << verdictText(count.first);
    return texts.join(u' ');
}

bool GalleryDrawer::passes(const QString& id) const {
    return paper_->currentIndex() <= 0 ||
           paper_->currentText() == QString::fromUtf8(entries_->find(id)->entry.paper());
}

QString GalleryDrawer::emptyText() const {
    return entries_->rows().empty() ? tr("The gallery has no entries") : tr("No entry matches");
}

}  // namespace normscope::widgets
