// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claims_list.h"

#include "widgets/claims/claim_details.h"
#include "widgets/claims/claim_texts.h"
#include "widgets/claims/claims_places.h"
#include "widgets/common/text_size.h"
#include "widgets/common/verdict_mark.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPushButton>
#include <algorithm>
#include <string_view>

namespace normscope::widgets {

namespace {

// px: the columns of a row
constexpr int kClaimsListGlyph = 14, kClaimsListLeft = 8, kClaimsListPadding = 6, kId = 30, kIdWidth = 92,
              kStatement = 130, kClaimsListGap = 12, kVerdictWidth = 128;

/// The label of a key's knob; empty where the window has none.
QString knobLabel(const std::string& key) {
    for (const KnobSpec& spec : knobTable())
        if (key == spec.key->name) return QCoreApplication::translate("KnobTable", spec.label);
    return {};
}

/// A result about another stack is not in the panels of this one.
bool ofAnotherStack(const ClaimResult* result) {
    return result && std::string_view(result->detail).starts_with("the same stack ");
}

}  // namespace

ClaimsList::ClaimsList() : RowList(QStringLiteral("claimsList"), tr("Claims")) {
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // rows do not move when it appears
}

void ClaimsList::setResults(ClaimResults results, bool outdated) {
    results_ = std::move(results);
    outdated_ = outdated;
    refresh();
}

void ClaimsList::setResult(const std::string& id, const ClaimResult& result) {
    results_.insert_or_assign(id, result);
    refresh(QString::fromStdString(id));
}

const ClaimResult* ClaimsList::result(const QString& id) const {
    const auto found = results_.find(id.toStdString());
    return found == results_.end() ? nullptr : &found->second;
}

QString ClaimsList::need(const QString& id) const {
    const ClaimResult* of = result(id);
    if (!of || of->verdict != ClaimVerdict::Unknown || id == unfolded_) return {};
    return QString::fromStdString(of->detail);
}

void ClaimsList::setIds(const QStringList& ids) {
    if (ids == this->ids()) return;
    const QString open = unfolded_;
    unfold({});
    RowList::setIds(ids);
    if (ids.contains(open)) unfold(open);
}

QString ClaimsList::describe(const QString& id) const {
    const Claim* claim = find_claim(id.toStdString());
    QStringList parts = {id, QString::fromUtf8(claim->number), QString::fromUtf8(claim->statement)};
    if (const ClaimResult* of = result(id)) {
        parts << verdictWord(of->verdict);
        if (const QString value = valueText(*of); !value.isEmpty()) parts << value;
        if (of->verdict == ClaimVerdict::Unknown) parts << QString::fromStdString(of->detail);
    } else {
        parts << tr("not measured");
    }
    return parts.join(QStringLiteral(", "));
}

void ClaimsList::refresh(const QString& id) {
    if (!unfolded_.isEmpty() && (id.isEmpty() || unfolded_ == id)) {
        const ClaimResult* of = result(unfolded_);
        // The buttons depend on the result only as far as it is of another stack.
        if (details_->showButton()) details_->showButton()->setVisible(!ofAnotherStack(of));
        details_->setResult(of);
    }
    RowList::refresh(id);
}

int ClaimsList::headHeight(int row) const {
    const Claim* claim = find_claim(id(row).toStdString());
    if (!claim) return 0;
    const QFont text = sized(font(), 12), bold = sized(font(), 12, QFont::Bold), small = sized(font(), 11);
    const int statement = viewport()->width() - kVerdictWidth - kClaimsListGap - kStatement;
    const QString needed = need(id(row));
    const int note = needed.isEmpty() ? 0 : heightOf(small, statement, needed) + 2;
    int height = std::max(heightOf(text, statement, QString::fromUtf8(claim->statement)) + note,
                          lineHeight(bold) + 2 + heightOf(small, kIdWidth, QString::fromUtf8(claim->number)));
    if (const ClaimResult* of = result(id(row)))
        height = std::max(height, lineHeight(text) + 2 + heightOf(small, kVerdictWidth - 8, valueText(*of)));
    return height + 2 * kClaimsListPadding + 1;
}

int ClaimsList::rowHeight(int row) const {
    const bool open = details_ && id(row) == unfolded_;
    return headHeight(row) + (open ? details_->heightFor(viewport()->width()) : 0);
}

void ClaimsList::paintRow(const RowPaint& paint, int at) {
    const Claim* claim = find_claim(id(at).toStdString());
    if (!claim) return;
    const ClaimResult* of = result(id(at));
    paint.ground(paint.row, true);
    const QColor result_ink = outdated_ ? paint.muted : paint.ink;
    const QRect row = paint.row.adjusted(0, kClaimsListPadding, 0, -kClaimsListPadding);
    const QFont text = sized(paint.font, 12), bold = sized(paint.font, 12, QFont::Bold),
                small = sized(paint.font, 11);
    paintMark(paint.painter,
              QRectF(row.left() + kClaimsListLeft, row.top() + 1, kClaimsListGlyph, kClaimsListGlyph),
              markOf(of ? std::optional(of->verdict) : std::nullopt), of ? result_ink : paint.muted);
    paint.text(bold, paint.ink, {row.left() + kId, row.top(), kIdWidth, lineHeight(bold)}, id(at));
    paint.text(small, paint.muted,
               {row.left() + kId, row.top() + lineHeight(bold) + 2, kIdWidth, row.height()},
               QString::fromUtf8(claim->number));
    const int right = row.right() + 1 - kVerdictWidth, left = row.left() + kStatement;
    const int width = right - kClaimsListGap - left;
    const QString statement = QString::fromUtf8(claim->statement);
    paint.text(text, paint.ink, {left, row.top(), width, row.height()}, statement);
    if (const QString needed = need(id(at)); !needed.isEmpty())
        paint.text(small, paint.muted,
                   {left, row.top() + heightOf(text, width, statement) + 2, width, row.height()}, needed);
    if (!of) return;
    paint.text(text, result_ink, {right, row.top(), kVerdictWidth, lineHeight(text)},
               verdictWord(of->verdict));
    paint.text(small, paint.muted, {right, row.top() + lineHeight(text) + 2, kVerdictWidth - 8, row.height()},
               valueText(*of));
}

void ClaimsList::makeDetails() {
    const Claim* claim = find_claim(unfolded_.toStdString());
    const ClaimPlace* place = claimPlace(claim->id);
    details_ = new ClaimDetails(QString::fromUtf8(claim->knob), knobLabel(claim->knob),
                                place ? panelInfo(place->panel).title : QString(), viewport());
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
    const QString id = selected();
    switch (event->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return unfold(id == unfolded_ ? QString() : id);
        case Qt::Key_Right:
            return unfold(id);
        case Qt::Key_Left:
            return unfold({});
        default:
            RowList::keyPressEvent(event);
    }
}

void ClaimsList::mousePressEvent(QMouseEvent* event) {
    const QListWidgetItem* at = itemAt(event->position().toPoint());
    pressed_ = at ? id(row(at)) : QString();
    RowList::mousePressEvent(event);
}

/// A click on the head of a row unfolds it, or folds it.
void ClaimsList::mouseReleaseEvent(QMouseEvent* event) {
    RowList::mouseReleaseEvent(event);
    const QListWidgetItem* at = itemAt(event->position().toPoint());
    if (!at || event->button() != Qt::LeftButton) return;
    const QString id = this->id(row(at));
    const bool head = event->position().y() < visualItemRect(at).top() + headHeight(row(at));
    if (id == pressed_ && head) unfold(id == unfolded_ ? QString() : id);
}

}  // namespace normscope::widgets
