// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_measures.h"

#include "widgets/common/verdict_mark.h"
#include "widgets/gallery/gallery_texts.h"

#include <QEvent>
#include <QHeaderView>
#include <QIcon>
#include <QPainter>
#include <QPixmap>
#include <QResizeEvent>
#include <QStyledItemDelegate>

namespace normscope::widgets {

namespace {

constexpr int kGalleryMeasuresGlyph = 12, kGalleryMeasuresText = 11;  // px
constexpr double kShares[] = {0.27, 0.19, 0.26, 0.17, 0.11};          // of the width, by column

QIcon iconOf(GalleryVerdict verdict, const QColor& colour, double ratio) {
    QPixmap pixmap(QSize(kGalleryMeasuresGlyph, kGalleryMeasuresGlyph) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintMark(painter, QRectF(0, 0, kGalleryMeasuresGlyph, kGalleryMeasuresGlyph), markOf(verdict), colour);
    painter.end();
    QIcon icon(pixmap);
    icon.addPixmap(pixmap, QIcon::Selected);  // as it is, not tinted
    return icon;
}

/// A selected row is the other background, not the text's colour.
class CellPainter : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        option->decorationAlignment = Qt::AlignLeft | Qt::AlignTop;
        option->palette.setColor(QPalette::Highlight, option->palette.color(QPalette::AlternateBase));
        option->palette.setColor(QPalette::HighlightedText, option->palette.color(QPalette::Text));
    }
};

}  // namespace

GalleryMeasures::GalleryMeasures(QWidget* parent) : QTableWidget(0, 5, parent) {
    setObjectName(QStringLiteral("galleryMeasures"));
    setAccessibleName(tr("Measures"));
    setHorizontalHeaderLabels(
        {tr("measure"), tr("the paper"), tr("measured, 95 %"), tr("verdict"), tr("size")});
    horizontalHeaderItem(Ours)->setToolTip(tr("Mean over the seeds with its 95 % confidence interval"));
    horizontalHeaderItem(Size)->setToolTip(
        tr("Measured against the paper's: the same within a factor of √10, smaller, or larger"));
    QFont font = this->font();
    font.setPixelSize(kGalleryMeasuresText);
    setFont(font);
    horizontalHeader()->setFont(font);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setHighlightSections(false);
    verticalHeader()->hide();
    verticalHeader()->setMinimumSectionSize(0);
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setWordWrap(true);
    setTextElideMode(Qt::ElideNone);
    setItemDelegate(new CellPainter(this));
    setIconSize({kGalleryMeasuresGlyph, kGalleryMeasuresGlyph});
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setTabKeyNavigation(false);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void GalleryMeasures::setMeasures(const std::vector<GalleryMeasure>& measures,
                                  const std::vector<GalleryFinding>& findings) {
    const int current = currentRow();
    setRowCount(static_cast<int>(measures.size()));
    verdicts_.assign(measures.size(), GalleryVerdict::NotMeasured);
    for (std::size_t i = 0; i < measures.size(); ++i) {
        const GalleryFinding* finding = i < findings.size() ? &findings[i] : nullptr;
        if (finding) verdicts_[i] = finding->verdict;
        const QString texts[] = {
            QString::fromStdString(measures[i].name),
            QString::fromStdString(gallery_paper_text(measures[i])),
            finding ? QString::fromStdString(gallery_effect_text(measures[i], *finding)) : QString(),
            verdictText(verdicts_[i]),
            finding ? QString::fromStdString(finding->order) : QString(),
        };
        for (int column = 0; column < columnCount(); ++column) {
            QTableWidgetItem* cell = item(static_cast<int>(i), column);
            if (!cell) {
                cell = new QTableWidgetItem;
                cell->setTextAlignment(Qt::AlignLeft | Qt::AlignTop);
                setItem(static_cast<int>(i), column, cell);
            }
            cell->setText(texts[column]);
        }
    }
    if (current >= 0 && current < rowCount()) setCurrentCell(current, 0);
    showIcons();
    fit();
}

void GalleryMeasures::showIcons() {
    for (std::size_t i = 0; i < verdicts_.size(); ++i)
        if (QTableWidgetItem* cell = item(static_cast<int>(i), Verdict))
            cell->setIcon(iconOf(verdicts_[i], palette().color(QPalette::Text), devicePixelRatioF()));
}

void GalleryMeasures::fit() {
    const int width = viewport()->width();
    int left = width;
    for (int column = 0; column + 1 < columnCount(); ++column) {
        const int of = static_cast<int>(kShares[column] * width);
        setColumnWidth(column, of);
        left -= of;
    }
    setColumnWidth(columnCount() - 1, left);
    resizeRowsToContents();
    int height = horizontalHeader()->sizeHint().height() + 2;
    for (int row = 0; row < rowCount(); ++row) height += rowHeight(row);
    setFixedHeight(height);
}

void GalleryMeasures::resizeEvent(QResizeEvent* event) {
    QTableWidget::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) fit();
}

void GalleryMeasures::changeEvent(QEvent* event) {
    QTableWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) showIcons();
}

}  // namespace normscope::widgets
