// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claims_list.h"

#include "widgets/claims/claim_details.h"
#include "widgets/claims/claim_texts.h"
#include "widgets/claims/claims_places.h"
#include "widgets/common/text_size.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>
#include <string_view>

namespace normscope::app {

namespace {

// px: the columns of a row
constexpr int kGlyph = 14, kLeft = 8, kPadding = 6, kId = 30, kIdWidth = 92, kStatement = 130, kGap = 12,
              kVerdictWidth = 128;

/// The label of a key's knob; empty where the window has none.
QString knobLabel(const std::string& key) {
    for (const widgets::KnobSpec& spec : widgets::knobTable())
        if (key == spec.key) return QCoreApplication::translate("KnobTable", spec.label);
    return {};
}

/// A result about another stack is not in the panels of this one.
bool ofAnotherStack(const ClaimResult* result) {
    return result && std::string_view(result->detail).starts_with("the same stack ");
}

class ClaimPainter : public QStyledItemDelegate {
  public:
    explicit ClaimPainter(ClaimsList* list) : QStyledItemDelegate(list), list_(*list) {}

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        const QString id = index.data(Qt::UserRole).toString();
        const Claim* claim = find_claim(id.toStdString());
        if (!claim) return {};
        return {0, list_.headHeight(*claim) + (id == list_.unfolded() ? list_.detailsHeight() : 0)};
    }

    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override {
        const Claim* claim = find_claim(index.data(Qt::UserRole).toString().toStdString());
        if (claim) editor->setGeometry(option.rect.adjusted(0, list_.headHeight(*claim), 0, 0));
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const QString id = index.data(Qt::UserRole).toString();
        const Claim* claim = find_claim(id.toStdString());
        if (!claim) return;
        const ClaimResult* result = list_.result(id);
        painter->save();
        const QPalette& palette = option.palette;
        const bool selected = option.state & QStyle::State_Selected;
        if (selected) painter->fillRect(option.rect, palette.color(QPalette::AlternateBase));
        painter->setPen(palette.color(QPalette::Button));
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        if (selected && option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(palette.color(QPalette::Text), 2));
            painter->drawRect(QRectF(option.rect).adjusted(1, 1, -1, -1));
        }
        const QColor ink = palette.color(QPalette::Text), muted = palette.color(QPalette::PlaceholderText);
        const QColor result_ink = list_.outdated() ? muted : ink;
        const QRect row = option.rect.adjusted(0, kPadding, 0, -kPadding);
        const QFont text = sized(option.font, 12), bold = sized(option.font, 12, true),
                    small = sized(option.font, 11);
        const auto draw = [&](const QFont& font, const QColor& colour, const QRect& at, const QString& what) {
            painter->setFont(font);
            painter->setPen(colour);
            painter->drawText(at, Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, what);
        };
        paintVerdict(*painter, QRectF(row.left() + kLeft, row.top() + 1, kGlyph, kGlyph),
                     result ? std::optional(result->verdict) : std::nullopt, result ? result_ink : muted);
        draw(bold, ink, {row.left() + kId, row.top(), kIdWidth, lineHeight(bold)}, id);
        draw(small, muted, {row.left() + kId, row.top() + lineHeight(bold) + 2, kIdWidth, row.height()},
             QString::fromUtf8(claim->number));
        const int right = row.right() + 1 - kVerdictWidth;
        const int width = right - kGap - row.left() - kStatement;
        const QString statement = QString::fromUtf8(claim->statement);
        draw(text, ink, {row.left() + kStatement, row.top(), width, row.height()}, statement);
        if (const QString need = list_.need(id); !need.isEmpty())
            draw(small, muted,
                 {row.left() + kStatement, row.top() + heightOf(text, width, statement) + 2, width,
                  row.height()},
                 need);
        if (result) {
            draw(text, result_ink, {right, row.top(), kVerdictWidth, lineHeight(text)},
                 verdictWord(result->verdict));
            draw(small, muted, {right, row.top() + lineHeight(text) + 2, kVerdictWidth - 8, row.height()},
                 valueText(*result));
        }
        painter->restore();
    }

  private:
    ClaimsList& list_;
};

}  // namespace

ClaimsList::ClaimsList(QWidget* parent) : QListWidget(parent) {
    setObjectName(QStringLiteral("claimsList"));
    setAccessibleName(tr("Claims"));
    setItemDelegate(new ClaimPainter(this));
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // rows do not move when it appears
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
}

void ClaimsList::setResults(std::function<const ClaimResult*(const std::string&)> results) {
    results_ = std::move(results);
}

const ClaimResult* ClaimsList::result(const QString& id) const {
    return results_ ? results_(id.toStdString()) : nullptr;
}

void ClaimsList::setOutdated(bool outdated) {
    outdated_ = outdated;
    viewport()->update();
}

QString ClaimsList::need(const QString& id) const {
    const ClaimResult* of = result(id);
    if (!of || of->verdict != ClaimVerdict::Unknown || id == unfolded_) return {};
    return QString::fromStdString(of->detail);
}

QStringList ClaimsList::ids() const {
    QStringList all;
    for (int i = 0; i < count(); ++i) all << item(i)->data(Qt::UserRole).toString();
    return all;
}

QListWidgetItem* ClaimsList::rowOf(const QString& id) const {
    for (int i = 0; i < count(); ++i)
        if (item(i)->data(Qt::UserRole).toString() == id) return item(i);
    return nullptr;
}

void ClaimsList::setClaims(const std::vector<const Claim*>& claims) {
    QStringList wanted;
    for (const Claim* claim : claims) wanted << QString::fromLatin1(claim->id);
    if (wanted == ids()) return;
    const QString selected = currentItem() ? currentItem()->data(Qt::UserRole).toString() : QString();
    const QString open = unfolded_;
    unfold({});
    clear();
    for (const QString& id : wanted) {
        auto* row = new QListWidgetItem(this);
        row->setData(Qt::UserRole, id);
        describe(*row);
        if (id == selected) setCurrentItem(row);
    }
    if (!currentItem() && count() > 0) setCurrentRow(0);
    if (wanted.contains(open)) unfold(open);
}

void ClaimsList::describe(QListWidgetItem& row) const {
    const QString id = row.data(Qt::UserRole).toString();
    const Claim* claim = find_claim(id.toStdString());
    QStringList parts = {id, QString::fromUtf8(claim->number), QString::fromUtf8(claim->statement)};
    if (const ClaimResult* of = result(id)) {
        parts << verdictWord(of->verdict);
        if (const QString value = valueText(*of); !value.isEmpty()) parts << value;
        if (of->verdict == ClaimVerdict::Unknown) parts << QString::fromStdString(of->detail);
    } else {
        parts << tr("not measured");
    }
    row.setData(Qt::AccessibleTextRole, parts.join(QStringLiteral(", ")));
}

void ClaimsList::refresh(const std::string& id) {
    if (!id.empty()) {
        if (QListWidgetItem* row = rowOf(QString::fromStdString(id))) describe(*row);
    } else {
        for (int i = 0; i < count(); ++i) describe(*item(i));
    }
    if (!unfolded_.isEmpty() && (id.empty() || unfolded_.toStdString() == id)) {
        const ClaimResult* of = result(unfolded_);
        // The buttons depend on the result only as far as it is of another stack.
        if (details_->showButton()) details_->showButton()->setVisible(!ofAnotherStack(of));
        details_->setResult(of);
    }
    layOutAgain();
}

/// The heights of rows depend on their results and on the unfolded part.
void ClaimsList::layOutAgain() {
    scheduleDelayedItemsLayout();
    viewport()->update();
}

int ClaimsList::headHeight(const Claim& claim) const {
    const QFont text = sized(font(), 12), bold = sized(font(), 12, true), small = sized(font(), 11);
    const int statement = viewport()->width() - kVerdictWidth - kGap - kStatement;
    const QString needed = need(QString::fromLatin1(claim.id));
    const int note = needed.isEmpty() ? 0 : heightOf(small, statement, needed) + 2;
    int height = std::max(heightOf(text, statement, QString::fromUtf8(claim.statement)) + note,
                          lineHeight(bold) + 2 + heightOf(small, kIdWidth, QString::fromUtf8(claim.number)));
    if (const ClaimResult* of = result(QString::fromLatin1(claim.id)))
        height = std::max(height, lineHeight(text) + 2 + heightOf(small, kVerdictWidth - 8, valueText(*of)));
    return height + 2 * kPadding + 1;
}

int ClaimsList::detailsHeight() const {
    return details_ ? details_->heightFor(viewport()->width()) : 0;
}

void ClaimsList::makeDetails() {
    const Claim* claim = find_claim(unfolded_.toStdString());
    const ClaimPlace* place = claimPlace(claim->id);
    details_ = new ClaimDetails(QString::fromUtf8(claim->knob), knobLabel(claim->knob),
                                place ? widgets::panelInfo(place->panel).title : QString(), viewport());
    connect(details_, &ClaimDetails::knobRequested, this,
            [this, key = QString::fromUtf8(claim->knob)] { Q_EMIT knobRequested(key); });
    connect(details_, &ClaimDetails::showRequested, this,
            [this, id = unfolded_] { Q_EMIT showRequested(id); });
    const ClaimResult* of = result(unfolded_);
    if (details_->showButton() && ofAnotherStack(of)) details_->showButton()->hide();
    details_->setResult(of);
    setItemWidget(rowOf(unfolded_), details_);
    QWidget* before = this;
    for (QPushButton* button : details_->buttons()) {
        setTabOrder(before, button);
        before = button;
    }
}

void ClaimsList::unfold(const QString& id) {
    if (id == unfolded_) return;
    if (QListWidgetItem* old = rowOf(unfolded_)) removeItemWidget(old);  // deletes it later
    if (details_) details_->hide();
    details_ = nullptr;
    unfolded_ = rowOf(id) ? id : QString();
    if (!unfolded_.isEmpty()) {
        setCurrentItem(rowOf(unfolded_));
        makeDetails();
    }
    doItemsLayout();
    if (!unfolded_.isEmpty()) scrollToItem(rowOf(unfolded_));
}

void ClaimsList::keyPressEvent(QKeyEvent* event) {
    const QString id = currentItem() ? currentItem()->data(Qt::UserRole).toString() : QString();
    switch (event->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return unfold(id == unfolded_ ? QString() : id);
        case Qt::Key_Right:
            return unfold(id);
        case Qt::Key_Left:
            return unfold({});
        default:
            QListWidget::keyPressEvent(event);
    }
}

void ClaimsList::mousePressEvent(QMouseEvent* event) {
    const QListWidgetItem* at = itemAt(event->position().toPoint());
    pressed_ = at ? at->data(Qt::UserRole).toString() : QString();
    QListWidget::mousePressEvent(event);
}

/// A click on the head of a row unfolds it, or folds it.
void ClaimsList::mouseReleaseEvent(QMouseEvent* event) {
    QListWidget::mouseReleaseEvent(event);
    const QListWidgetItem* at = itemAt(event->position().toPoint());
    if (!at || event->button() != Qt::LeftButton) return;
    const QString id = at->data(Qt::UserRole).toString();
    const Claim* claim = find_claim(id.toStdString());
    const bool head = event->position().y() < visualItemRect(at).top() + headHeight(*claim);
    if (id == pressed_ && head) unfold(id == unfolded_ ? QString() : id);
}

void ClaimsList::resizeEvent(QResizeEvent* event) {
    QListWidget::resizeEvent(event);
    layOutAgain();
}

}  // namespace normscope::app
