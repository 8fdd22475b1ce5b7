// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/diff_list.h"

#include "widgets/knobs/fold_title.h"
#include "widgets/plots/glyph.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr int kTitleHeight = 22;

/// A flat line of text, elided in a narrow column, with a tooltip.
class DiffRow : public QPushButton {
  public:
    DiffRow(const KeyDifference& difference, QWidget* parent)
        : QPushButton(parent),
          line_(QStringLiteral("%1:  %2 → %3").arg(difference.label, difference.base, difference.now)) {
        setObjectName(QString::fromStdString(difference.key->name));
        setFlat(true);
        setFocusPolicy(Qt::TabFocus);
        setCursor(Qt::PointingHandCursor);
        setAccessibleName(DiffList::tr("Reset %1").arg(line_));
        setToolTip(DiffList::tr("%1: %2 → %3\nClick to reset it to %2")
                       .arg(objectName(), difference.base, difference.now));
    }
    QSize sizeHint() const override { return {60, fontMetrics().height() + 4}; }
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    // Painted here, as a style sheet would keep the colours of the theme it was set under.
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        if (underMouse() || hasFocus()) painter.fillRect(rect(), palette().color(QPalette::Midlight));
        painter.setPen(palette().color(QPalette::WindowText));
        const QRect text = rect().adjusted(16, 0, -4, 0);
        painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                         fontMetrics().elidedText(line_, Qt::ElideRight, text.width()));
    }

  private:
    QString line_;
};

}  // namespace

DiffList::DiffList(QWidget* parent) : QWidget(parent) {
    title_ = new FoldTitle(this);
    title_->setObjectName(QStringLiteral("diffTitle"));
    title_->setFixedHeight(kTitleHeight);
    title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    connect(title_, &QToolButton::toggled, this, &DiffList::setListShown);
    choose_ = new GlyphButton(Glyph::Caret, tr("Compare the knobs with a preset"), this);
    choose_->setFixedSize(kTitleHeight, kTitleHeight);
    menu_ = new QMenu(choose_);
    connect(choose_, &QToolButton::clicked, this,
            [this] { menu_->popup(choose_->mapToGlobal(QPoint(0, choose_->height()))); });
    auto* header = new QHBoxLayout;
    header->setContentsMargins(0, 0, 0, 0);
    header->setSpacing(0);
    header->addWidget(title_, 1);
    header->addWidget(choose_);
    list_ = new QWidget(this);
    rows_ = new QVBoxLayout(list_);
    rows_->setContentsMargins(0, 0, 0, 0);
    rows_->setSpacing(0);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(header);
    column->addWidget(list_);
    setListShown(false);
}

void DiffList::setPresets(std::vector<NamedRecipe> presets) {
    presets_ = std::move(presets);
    menu_->clear();
    menu_->addAction(tr("Nearest preset"), this, [this] { setBase({}); });
    menu_->addSeparator();
    for (const NamedRecipe& preset : presets_)
        menu_->addAction(preset.title, this, [this, name = preset.name] { setBase(name); });
    compare();
}

void DiffList::setRecipe(const Recipe& recipe) {
    recipe_ = recipe;
    compare();
}

void DiffList::setBase(const QString& name) {
    chosen_ = name;
    compare();
}

void DiffList::setListShown(bool shown) {
    const QSignalBlocker quiet(title_);
    title_->setChecked(shown);
    list_->setVisible(shown);
}

void DiffList::compare() {
    const auto chosen = std::find_if(presets_.begin(), presets_.end(),
                                     [this](const NamedRecipe& preset) { return preset.name == chosen_; });
    const int base = chosen != presets_.end() ? static_cast<int>(chosen - presets_.begin())
                                              : nearestRecipe(presets_, recipe_);
    auto differences = base < 0 ? std::vector<KeyDifference>()
                                : recipeDifferences(presets_[static_cast<std::size_t>(base)].recipe, recipe_);
    const bool same = base == base_ && differences == differences_;
    base_ = base;
    differences_ = std::move(differences);
    if (!same) showRows();
}

void DiffList::showTitle() {
    if (base_ < 0) return;
    const QString preset = presets_[static_cast<std::size_t>(base_)].title;
    const QString count = differences_.empty() ? QString() : QStringLiteral(" (%1)").arg(differences_.size());
    const QString text =
        differences_.empty() ? tr("Matches preset %1").arg(preset) : tr("Differs from preset %1").arg(preset);
    // A long preset name is elided, the count is not.
    const QFontMetrics metrics = title_->fontMetrics();
    const int space = title_->width() - FoldTitle::kTextLeft - metrics.horizontalAdvance(count);
    title_->setText(metrics.elidedText(text, Qt::ElideRight, space) + count);
    title_->setToolTip(text + count);
}

void DiffList::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layout()->activate();
    showTitle();
}

void DiffList::showRows() {
    setVisible(base_ >= 0);
    if (base_ < 0) return;
    showTitle();
    qDeleteAll(list_->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    for (const KeyDifference& difference : differences_) {
        auto* row = new DiffRow(difference, list_);
        rows_->addWidget(row);
        // Queued: the reaction rebuilds these rows.
        connect(
            row, &QPushButton::clicked, this,
            [this, key = difference.key] {
                if (base_ >= 0)
                    Q_EMIT keyResetRequested(key, presets_[static_cast<std::size_t>(base_)].recipe);
            },
            Qt::QueuedConnection);
    }
}

}  // namespace normscope::widgets
