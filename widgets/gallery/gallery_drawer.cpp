// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_drawer.h"

#include "app/lab/lab.h"
#include "app/lab/studies/gallery_runs.h"
#include "widgets/gallery/gallery_details.h"
#include "widgets/gallery/gallery_list.h"
#include "widgets/gallery/gallery_texts.h"
#include "widgets/plots/glyph.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <algorithm>

namespace normscope::app {

GalleryDrawer::GalleryDrawer(Lab& lab, QWidget* over, QWidget* parent)
    : Drawer(over, kWidth, parent),
      runs_(GalleryRuns::of(lab)),
      title_(new QLabel(tr("Gallery of the papers' figures"), this)),
      empty_(new QLabel(this)),
      paper_(new QComboBox(this)),
      search_(new QLineEdit(this)),
      list_(new GalleryList(runs_, this)),
      details_(new GalleryDetails(runs_, this)) {
    setObjectName(QStringLiteral("galleryDrawer"));
    setAccessibleName(tr("Gallery"));
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    empty_->setObjectName(QStringLiteral("galleryEmpty"));
    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    paper_->setObjectName(QStringLiteral("galleryPaper"));
    paper_->setAccessibleName(tr("Paper"));
    search_->setObjectName(QStringLiteral("gallerySearch"));
    search_->setPlaceholderText(tr("Find in titles, statements and verdicts"));
    search_->setAccessibleName(tr("Find a figure or table"));
    search_->installEventFilter(this);
    auto* close = new widgets::GlyphButton(widgets::Glyph::Cross, tr("Close (Esc)"), this);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* line = new QFrame(this);
    line->setFrameShape(QFrame::HLine);
    line->setForegroundRole(QPalette::Button);

    auto* heading = new QHBoxLayout;
    heading->addWidget(title_, 1);
    heading->addWidget(close);
    auto* filters = new QHBoxLayout;
    filters->setContentsMargins(0, 0, 6, 0);
    filters->addWidget(paper_);
    filters->addWidget(search_, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 8, 8, 8);
    column->setSpacing(6);
    column->addLayout(heading);
    column->addLayout(filters);
    column->addWidget(empty_, 4);
    column->addWidget(list_, 4);
    column->addWidget(line);
    column->addWidget(details_, 5);
    connect(paper_, &QComboBox::currentIndexChanged, this, &GalleryDrawer::filter);
    connect(search_, &QLineEdit::textChanged, this, &GalleryDrawer::filter);
    connect(list_, &GalleryList::chosen, details_, &GalleryDetails::setEntry);
    connect(details_, &GalleryDetails::sweepRequested, this, &GalleryDrawer::sweepRequested);
    connect(&runs_, &GalleryRuns::changed, this, &GalleryDrawer::refresh);
}

void GalleryDrawer::fillPapers() {
    QStringList papers = {tr("All papers")};
    for (const GalleryEntry& entry : runs_.entries())
        if (const QString paper = QString::fromUtf8(entry.paper()); !papers.contains(paper)) papers << paper;
    QStringList shown;
    for (int i = 0; i < paper_->count(); ++i) shown << paper_->itemText(i);
    if (papers == shown) return;
    const QSignalBlocker quiet(paper_);
    paper_->clear();
    paper_->addItems(papers);
}

void GalleryDrawer::open(const QString& id) {
    fillPapers();
    if (!id.isEmpty()) {
        paper_->setCurrentIndex(0);
        search_->clear();
    }
    appear();
    filter();
    list_->select(id);
    runs_.read(list_->selected());
    refresh({});
    list_->setFocus();
}

void GalleryDrawer::refresh(const QString& id) {
    if (!isVisible()) return;
    list_->refresh(id);
    filter();
    if (id.isEmpty() || id == details_->id()) details_->refresh();
}

bool GalleryDrawer::passes(const GalleryEntry& entry) const {
    if (paper_->currentIndex() > 0 && paper_->currentText() != QString::fromUtf8(entry.paper())) return false;
    QStringList texts = {QString::fromStdString(entry.id), QString::fromStdString(entry.title),
                         sourceText(entry), QString::fromStdString(entry.statement), stateText(entry, runs_)};
    for (const auto& count : verdictCounts(entry, runs_.state(QString::fromStdString(entry.id))))
        texts << verdictText(count.first);
    const QString text = texts.join(u' ');
    const QStringList words = search_->text().split(u' ', Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

void GalleryDrawer::filter() {
    QStringList ids;
    for (const GalleryEntry& entry : runs_.entries())
        if (passes(entry)) ids << QString::fromStdString(entry.id);
    list_->setIds(ids);
    list_->setVisible(!ids.isEmpty());
    empty_->setVisible(ids.isEmpty());
    empty_->setText(runs_.entries().empty() ? tr("The gallery has no entries") : tr("No entry matches"));
    details_->setEntry(list_->selected());
}

bool GalleryDrawer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == search_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            list_->setFocus();
            QCoreApplication::sendEvent(list_, event);
            return true;
        }
    }
    return Drawer::eventFilter(watched, event);
}

}  // namespace normscope::app
