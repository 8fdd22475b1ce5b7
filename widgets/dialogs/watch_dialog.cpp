// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/watch_dialog.h"

#include "core/base/error.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace normscope::widgets {

namespace {

QString watchTitle(WatchQuantity quantity) {
    switch (quantity) {
        case WatchQuantity::GradNorm:
            return WatchDialog::tr("Gradient norm");
        case WatchQuantity::GradRatio:
            return WatchDialog::tr("Gradient ratio, first layer over last");
        case WatchQuantity::Loss:
            return WatchDialog::tr("Loss (nat)");
        case WatchQuantity::HiddenRms:
            return WatchDialog::tr("RMS of any hidden state");
        case WatchQuantity::NonFinite:
            return WatchDialog::tr("A value that is not finite");
        case WatchQuantity::Entropy:
            return WatchDialog::tr("Attention entropy of any head");
    }
    return {};
}

WatchQuantity quantityOf(const QComboBox* box) {
    return static_cast<WatchQuantity>(box->currentData().toInt());
}

}  // namespace

WatchDialog::WatchDialog(const std::vector<WatchSpec>& watch, const QString& runs, QWidget* parent)
    : QDialog(parent),
      grid_(new QGridLayout),
      none_(new QLabel(tr("No watchpoints"), this)),
      problem_(new QLabel(this)),
      add_(new QPushButton(tr("&Add a watchpoint"), this)) {
    setObjectName(QStringLiteral("watchDialog"));
    setWindowTitle(tr("Watchpoints"));
    auto* text = new QLabel(
        tr("Training of all runs pauses after the first step at which a condition holds for one of them; "
           "Space resumes. It pauses again once the value has been back on the other side. Set for %1; no "
           "run restarts for it.")
            .arg(runs),
        this);
    text->setWordWrap(true);
    grid_->setColumnStretch(2, 1);
    none_->setObjectName(QStringLiteral("watchNone"));
    problem_->setObjectName(QStringLiteral("watchProblem"));
    problem_->setWordWrap(true);
    problem_->setMinimumHeight(2 * problem_->fontMetrics().height());  // the fields do not move
    QPalette colours = problem_->palette();
    colours.setColor(QPalette::WindowText,
                     readable(themeOf(palette()).bad, palette().color(QPalette::Window)));
    problem_->setPalette(colours);
    add_->setObjectName(QStringLiteral("watchAdd"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    ok_ = buttons->button(QDialogButtonBox::Ok);
    auto* adding = new QHBoxLayout;
    adding->addWidget(none_);
    adding->addStretch(1);
    adding->addWidget(add_);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    column->addLayout(grid_);
    column->addLayout(adding);
    column->addWidget(problem_);
    column->addStretch(1);
    column->addWidget(buttons);
    setMinimumWidth(560);

    for (const WatchSpec& spec : watch) add(spec);
    connect(add_, &QPushButton::clicked, this, [this] {
        add({WatchQuantity::GradNorm, WatchComparator::Above, 100});
        check();
        rows_.back().quantity->setFocus();
    });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    check();
}

void WatchDialog::add(const WatchSpec& spec) {
    Row row{new QComboBox(this), new QComboBox(this), new QLineEdit(this),
            new QPushButton(tr("Remove"), this)};
    for (std::size_t i = 0; i < words_of<WatchQuantity>().size(); ++i)
        row.quantity->addItem(watchTitle(static_cast<WatchQuantity>(i)), static_cast<int>(i));
    row.quantity->setCurrentIndex(static_cast<int>(spec.quantity));
    for (const char* word : words_of<WatchComparator>()) row.is->addItem(QLatin1String(word));
    row.is->setCurrentIndex(static_cast<int>(spec.is));
    const std::string text = watch_text(spec);  // its number is the shortest that is read back as it is
    row.value->setText(QString::fromStdString(text.substr(text.rfind(' ') + 1)));
    row.remove->setAutoDefault(false);
    grid_->addWidget(row.quantity, next_line_, 0);
    grid_->addWidget(row.is, next_line_, 1);
    grid_->addWidget(row.value, next_line_, 2);
    grid_->addWidget(row.remove, next_line_, 3);
    ++next_line_;
    // In the order in which a row is read, before the button that adds one.
    if (!rows_.empty()) setTabOrder(rows_.back().remove, row.quantity);
    setTabOrder(row.quantity, row.is);
    setTabOrder(row.is, row.value);
    setTabOrder(row.value, row.remove);
    setTabOrder(row.remove, add_);
    connect(row.quantity, &QComboBox::currentIndexChanged, this, &WatchDialog::check);
    connect(row.is, &QComboBox::currentIndexChanged, this, &WatchDialog::check);
    connect(row.value, &QLineEdit::textChanged, this, &WatchDialog::check);
    connect(row.remove, &QPushButton::clicked, this, [this, button = row.remove] { remove(button); });
    // The layout would show them later; until then they have no focus and no tab stop.
    if (isVisible())
        for (QWidget* part : std::initializer_list<QWidget*>{row.quantity, row.is, row.value, row.remove})
            part->show();
    rows_.push_back(row);
    number();
}

void WatchDialog::remove(QPushButton* button) {
    const auto row =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.remove == button; });
    for (QWidget* part : {static_cast<QWidget*>(row->quantity), static_cast<QWidget*>(row->is),
                          static_cast<QWidget*>(row->value), static_cast<QWidget*>(row->remove)}) {
        part->hide();
        part->deleteLater();
    }
    rows_.erase(row);
    number();
    check();
    add_->setFocus();
}

/// Names for a screen reader, by the place in the list.
void WatchDialog::number() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto place = static_cast<int>(i + 1);
        rows_[i].quantity->setAccessibleName(tr("Quantity of watchpoint %1").arg(place));
        rows_[i].is->setAccessibleName(tr("Above or below, watchpoint %1").arg(place));
        rows_[i].value->setAccessibleName(tr("Value of watchpoint %1").arg(place));
        rows_[i].remove->setAccessibleName(tr("Remove watchpoint %1").arg(place));
        const std::pair<QWidget*, const char*> named[] = {{rows_[i].quantity, "Quantity"},
                                                          {rows_[i].is, "Is"},
                                                          {rows_[i].value, "Value"},
                                                          {rows_[i].remove, "Remove"}};
        for (const auto& [part, name] : named)
            part->setObjectName(QStringLiteral("watch%1%2").arg(QLatin1String(name)).arg(i));
    }
    none_->setVisible(rows_.empty());
}

void WatchDialog::check() {
    QString problem;
    valid_.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        const WatchQuantity quantity = quantityOf(row.quantity);
        const bool compared = quantity != WatchQuantity::NonFinite;
        row.is->setEnabled(compared);
        row.value->setEnabled(compared);
        std::string text = word_of(quantity);
        if (compared)
            text += ' ' + row.is->currentText().toStdString() + ' ' + row.value->text().toStdString();
        try {
            valid_.push_back(parse_watch(text, tr("watchpoint %1").arg(i + 1).toStdString()));
        } catch (const InputError& error) {
            if (problem.isEmpty()) problem = QString::fromUtf8(error.what());
        }
    }
    problem_->setText(problem);
    ok_->setEnabled(problem.isEmpty());
}

std::vector<WatchSpec> WatchDialog::watch() const {
    return valid_;
}

}  // namespace normscope::widgets
