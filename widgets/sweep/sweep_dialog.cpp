// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sweep/sweep_dialog.h"

#include "core/recipe/keys.h"
#include "core/recipe/recipe.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/sweep/sweep_figure.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr const char* kSchemes = "pre,peri,lns,mix,deepnorm,post";
constexpr const char* kRates = "log:3e-4:1e-2:4";

/// The keys that are likely to vary, before all others.
constexpr const char* kFirstKeys[] = {"stack.scheme",  "optimizer.lr",     "stack.residual_step",
                                      "stack.depth",   "stack.init.rule",  "schedule.warmup",
                                      "stack.d_model", "stack.temperature"};

void fillKeys(QComboBox* box) {
    const auto add = [box](const std::string& key) {
        const QString title = sweepKeyName(key), text = QString::fromStdString(key);
        if (box->findData(text) < 0)
            box->addItem(title == text ? text : QStringLiteral("%1 (%2)").arg(title, text), text);
    };
    box->addItem(SweepDialog::tr("no key"), QString());
    for (const char* key : kFirstKeys) add(key);
    for (const RecipeKey& key : recipe_keys())
        if (!key.is_list() && key.name != "seed") add(key.name);
}

}  // namespace

SweepDialog::SweepDialog(const Recipe& base, const QString& name, QString folders, double run_seconds,
                         QString machine, QWidget* parent)
    : QDialog(parent),
      base_(baseText(base)),
      steps_(base.train.steps),
      run_seconds_(run_seconds),
      machine_(std::move(machine)),
      folders_(std::move(folders)),
      seeds_(new QLineEdit(this)),
      folder_(new QLineEdit(this)),
      count_(new QLabel(this)),
      start_(new QPushButton(tr("Start"), this)) {
    setObjectName(QStringLiteral("sweepDialog"));
    setWindowTitle(tr("New sweep"));
    const QColor bad = readable(themeOf(palette()).bad, palette().color(QPalette::Window));
    const auto problemLabel = [&](const char* object_name) {
        auto* label = new QLabel(this);
        label->setObjectName(QLatin1String(object_name));
        label->setWordWrap(true);
        QPalette colours = label->palette();
        colours.setColor(QPalette::WindowText, bad);
        label->setPalette(colours);
        label->setMinimumHeight(label->fontMetrics().height());  // the fields do not move
        return label;
    };
    auto* grid = new QGridLayout;
    grid->setColumnStretch(2, 1);
    int line = 0;
    for (int i = 0; i < 2; ++i) {
        Row row{new QComboBox(this), new QLineEdit(this),
                problemLabel(i == 0 ? "sweepProblem0" : "sweepProblem1")};
        row.key->setObjectName(QStringLiteral("sweepKey%1").arg(i));
        row.key->setAccessibleName(tr("Key %1").arg(i + 1));
        row.values->setObjectName(QStringLiteral("sweepValues%1").arg(i));
        row.values->setAccessibleName(tr("Values of key %1").arg(i + 1));
        row.values->setPlaceholderText(tr("post,pre,peri · log:1e-4:1e-1:8 · lin:0:1:5"));
        fillKeys(row.key);
        grid->addWidget(new QLabel(i == 0 ? tr("Rows") : tr("Columns"), this), line, 0);
        grid->addWidget(row.key, line, 1);
        grid->addWidget(row.values, line, 2);
        grid->addWidget(row.problem, line + 1, 1, 1, 2);
        line += 2;
        connect(row.key, &QComboBox::activated, this, &SweepDialog::check);
        connect(row.values, &QLineEdit::textChanged, this, &SweepDialog::check);
        rows_.push_back(row);
    }
    seeds_->setObjectName(QStringLiteral("sweepSeeds"));
    seeds_->setText(QStringLiteral("%1:%2").arg(base.train.seed).arg(base.train.seed + 2));
    seeds_problem_ = problemLabel("sweepSeedsProblem");
    grid->addWidget(new QLabel(tr("Seeds"), this), line, 0);
    grid->addWidget(seeds_, line, 1, 1, 2);
    grid->addWidget(seeds_problem_, line + 1, 1, 1, 2);
    line += 2;
    folder_->setObjectName(QStringLiteral("sweepFolder"));
    folder_problem_ = problemLabel("sweepFolderProblem");
    auto* choose = new QPushButton(tr("Choose…"), this);
    auto* folder_row = new QHBoxLayout;
    folder_row->addWidget(folder_, 1);
    folder_row->addWidget(choose);
    grid->addWidget(new QLabel(tr("Folder"), this), line, 0);
    grid->addLayout(folder_row, line, 1, 1, 2);
    grid->addWidget(folder_problem_, line + 1, 1, 1, 2);

    auto* schemes = new QPushButton(tr("6 schemes × 3 seeds"), this);
    schemes->setObjectName(QStringLiteral("sweepSchemes"));
    auto* rates = new QPushButton(tr("6 schemes × 4 learning rates × 3 seeds"), this);
    rates->setObjectName(QStringLiteral("sweepRates"));
    auto* presets = new QHBoxLayout;
    presets->addWidget(schemes);
    presets->addWidget(rates);
    presets->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->addButton(start_, QDialogButtonBox::AcceptRole);
    start_->setObjectName(QStringLiteral("sweepStart"));
    start_->setDefault(true);
    count_->setObjectName(QStringLiteral("sweepCount"));
    auto* text = new QLabel(
        tr("Each combination is trained with every seed, from the recipe of %1. A scheme changes the norms "
           "alone: the initialisation stays that of the recipe.")
            .arg(name),
        this);
    text->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    column->addLayout(presets);
    column->addLayout(grid);
    column->addWidget(count_);
    column->addStretch(1);
    column->addWidget(buttons);
    setMinimumWidth(640);

    connect(seeds_, &QLineEdit::textChanged, this, &SweepDialog::check);
    connect(folder_, &QLineEdit::textEdited, this, [this] {
        folder_edited_ = true;
        check();
    });
    connect(choose, &QPushButton::clicked, this, &SweepDialog::chooseFolder);
    connect(schemes, &QPushButton::clicked, this, [this] { useScheme(false); });
    connect(rates, &QPushButton::clicked, this, [this] { useScheme(true); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(start_, &QPushButton::clicked, this, [this] {
        start_->setEnabled(false);
        Q_EMIT startRequested(parsed_.spec, folder_->text());
    });
    useScheme(true);
}

std::vector<SweepField> SweepDialog::fields() const {
    std::vector<SweepField> fields;
    for (const Row& row : rows_)
        fields.push_back(
            {row.key->currentData().toString().toStdString(), row.values->text().trimmed().toStdString()});
    return fields;
}

void SweepDialog::useScheme(bool with_rates) {
    const auto set = [](const Row& row, const char* key, const char* values) {
        row.key->setCurrentIndex(row.key->findData(QLatin1String(key)));
        row.values->setText(QLatin1String(values));
    };
    set(rows_[0], "stack.scheme", kSchemes);
    set(rows_[1], with_rates ? "optimizer.lr" : "", with_rates ? kRates : "");
    check();
}

void SweepDialog::setVaried(const std::string& key, const std::string& values) {
    if (key == "seed") {
        seeds_->setText(QString::fromStdString(values));
        return check();
    }
    rows_[0].key->setCurrentIndex(rows_[0].key->findData(QString::fromStdString(key)));
    rows_[0].values->setText(QString::fromStdString(values));
    rows_[1].key->setCurrentIndex(0);
    rows_[1].values->clear();
    check();
}

void SweepDialog::check() {
    const std::vector<SweepField> typed = fields();
    parsed_ = parseSweep(base_, typed, seeds_->text().trimmed().toStdString());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i].problem->setText(parsed_.field_problems[i]);
        rows_[i].values->setEnabled(!typed[i].key.empty());
    }
    seeds_problem_->setText(parsed_.seeds_problem);
    if (!folder_edited_) folder_->setText(freshSweepFolder(folders_, typed));
    folder_problem_->setText(folder_->text().trimmed().isEmpty() ? tr("Choose a folder") : QString());
    const bool valid = parsed_.valid() && !folder_->text().trimmed().isEmpty();
    count_->setText(parsed_.valid() ? sizeText(typed) : parsed_.problem);
    start_->setEnabled(valid);
}

/// "72 runs of 200 steps, about 9 min on this machine". Not of keys on which the time of a run depends.
QString SweepDialog::sizeText(const std::vector<SweepField>& fields) const {
    const auto runs = parsed_.spec.runs();
    const bool same_time = std::all_of(fields.begin(), fields.end(), [](const SweepField& field) {
        return field.key.empty() || field.key == "stack.scheme" || field.key.rfind("optimizer.", 0) == 0 ||
               field.key.rfind("schedule.", 0) == 0 || field.key.rfind("stack.init", 0) == 0 ||
               field.key == "stack.residual_step" || field.key == "stack.temperature";
    });
    const bool steps_vary = std::any_of(fields.begin(), fields.end(),
                                        [](const SweepField& field) { return field.key == "steps"; });
    QString text = steps_vary ? tr("%1 runs").arg(runs) : tr("%1 runs of %2 steps").arg(runs).arg(steps_);
    if (run_seconds_ > 0 && same_time)
        text += tr(", %1 on %2").arg(aboutTime(run_seconds_ * static_cast<double>(runs)), machine_);
    return text;
}

void SweepDialog::chooseFolder() {
    const QString chosen = QFileDialog::getExistingDirectory(this, tr("Folder of the sweep"), folders_);
    if (chosen.isEmpty()) return;
    folder_edited_ = true;
    folder_->setText(QDir::cleanPath(chosen));
    check();
}

void SweepDialog::showRejected(const QString& line) {
    folder_problem_->setText(line);
    start_->setEnabled(true);
}

}  // namespace normscope::widgets
