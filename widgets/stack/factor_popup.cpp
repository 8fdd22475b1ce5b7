// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/factor_popup.h"

#include "widgets/figures/number_text.h"
#include "widgets/plots/palette_theme.h"

#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr int kFactorPopupFieldWidth = 90;

/// Whether a field is empty or a finite number; colours rejected text.
bool read(QLineEdit* field, std::optional<double>& value) {
    const QString text = field->text().trimmed().replace(u',', u'.');
    bool number = true;
    value = std::nullopt;
    if (!text.isEmpty()) value = text.toDouble(&number);
    const bool allowed = number && (!value || std::isfinite(*value));
    QPalette colours;
    if (!allowed) colours.setColor(QPalette::Text, themeOf(field->palette()).bad);
    field->setPalette(colours);
    field->setToolTip(allowed ? QString()
                              : FactorPopup::tr("Allowed: a number, or nothing for the scheme's"));
    return allowed;
}

}  // namespace

FactorPopup::FactorPopup(const QString& name, const RuleOverride& manual, const SublayerRule& by_scheme,
                         bool shortcut, QWidget* parent)
    : QFrame(parent, Qt::Popup), a_(new QLineEdit(this)), b_(new QLineEdit(this)) {
    setObjectName(QStringLiteral("factorPopup"));
    setAttribute(Qt::WA_DeleteOnClose);
    setFrameShape(QFrame::StyledPanel);
    const auto field = [&](QLineEdit* edit, const std::optional<double>& value, double scheme,
                           const char* object, const QString& label) {
        edit->setObjectName(QLatin1String(object));
        edit->setFixedWidth(kFactorPopupFieldWidth);
        edit->setAlignment(Qt::AlignRight);
        edit->setPlaceholderText(numberText(scheme));
        edit->setAccessibleName(label);
        if (value) edit->setText(exactText(*value));
        connect(edit, &QLineEdit::returnPressed, this, &FactorPopup::commit);
    };
    field(a_, manual.a, by_scheme.a, "factorA", tr("a, of the shortcut"));
    field(b_, manual.b, by_scheme.b, "factorB", tr("b, of the branch"));
    a_->setEnabled(shortcut);
    if (!shortcut) a_->setToolTip(tr("A parallel layer has one shortcut, that of its attention"));
    auto* set = new QPushButton(tr("Set"), this);
    connect(set, &QPushButton::clicked, this, &FactorPopup::commit);

    auto* form = new QFormLayout(this);
    form->setContentsMargins(10, 8, 10, 8);
    form->addRow(new QLabel(name + QStringLiteral(": z = a·x + Δt·b·y"), this));
    form->addRow(a_->accessibleName(), a_);
    form->addRow(b_->accessibleName(), b_);
    form->addRow(tr("Empty: as in the scheme"), set);
    QLineEdit* first = shortcut ? a_ : b_;
    first->setFocus();
    first->selectAll();
}

void FactorPopup::commit() {
    std::optional<double> a, b;
    const bool allowed = read(a_, a);
    if (!read(b_, b) || !allowed) return;
    Q_EMIT committed(a, b);
    close();
}

}  // namespace normscope::widgets
