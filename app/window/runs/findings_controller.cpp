// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/findings_controller.h"

#include "app/lab/healthy_reference.h"
#include "app/lab/lab.h"
#include "app/window/runs/group_summary.h"
#include "core/base/number_text.h"
#include "core/findings/findings.h"
#include "core/findings/why.h"
#include "core/run/complete_run.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/findings/findings_band.h"
#include "widgets/findings/why_box.h"

#include <algorithm>

namespace normscope::app {

namespace {

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

/// The group whose remedies are shown; else that of the selected run.
std::size_t groupOfRemedies(const Lab& lab) {
    const RemedyTrials* trials = lab.remedies().trials();
    for (std::size_t i = 0; trials && i < lab.comparison().runs.size(); ++i)
        if (lab.comparison().runs[i].id == trials->run) return lab.view().groups().groupOf(i);
    return lab.view().groups().groupOf(static_cast<std::size_t>(lab.comparison().selected));
}

/// The groups in the order in which they get a column: that whose remedies are shown, then the selected one.
std::vector<std::size_t> byPriority(const Lab& lab) {
    std::vector<std::size_t> order{groupOfRemedies(lab)};
    const std::size_t selected =
        lab.view().groups().groupOf(static_cast<std::size_t>(lab.comparison().selected));
    if (selected != order.front()) order.push_back(selected);
    for (std::size_t g = 0; g < lab.view().groups().groups.size(); ++g)
        if (std::find(order.begin(), order.end(), g) == order.end()) order.push_back(g);
    return order;
}

widgets::BandNumber medianLoss(const GroupSummary& summary) {
    const bool before = summary.step < 0;
    const QString loss = before ? FindingsController::tr("held-out loss") : FindingsController::tr("loss");
    const QString none =
        before ? FindingsController::tr("Loss: not measured yet")
               : FindingsController::tr("Loss: no run has a finite one at step %1").arg(summary.step);
    if (summary.loss.isEmpty()) return {QStringLiteral("–"), {}, loss, {}, none};
    const QString tip = before
                            ? FindingsController::tr(
                                  "Median of the runs' losses at step 0 (%1 nat)\n"
                                  "Mean cross-entropy of the probes' held-out sequences")
                                  .arg(summary.range.isEmpty() ? summary.loss : summary.range)
                            : FindingsController::tr(
                                  "Median of the runs' losses at step %1, then the lowest and the highest\n"
                                  "Mean cross-entropy of the step's training batch, before the update")
                                  .arg(summary.step);
    const QString held_out = summary.held_out.isEmpty() ? QString() : u'\n' + summary.held_out;
    const QString caption = before || summary.range.isEmpty() ? loss : summary.range;
    return {summary.loss, FindingsController::tr("nat"), caption, {}, tip + held_out, summary.draft};
}

widgets::ColumnContent ofGroup(const Lab& lab, std::size_t index) {
    const GroupSummary summary = groupSummary(lab, lab.view().groups().groups[index]);
    return {summary.name,          static_cast<int>(index), {},
            {medianLoss(summary)}, summary.outcomes,        summary.outcome};
}

/// The inputs of the two panels whose numbers the band shows.
struct Inputs {
    widgets::PanelInput growth, gradients;
    explicit Inputs(const Lab& lab)
        : growth(lab.view().panelInput("growth", {})), gradients(lab.view().panelInput("gradients", {})) {}
};

widgets::BandNumber ofHealthyRuns(const HealthyReference& healthy, const HealthyReference::Verdict& verdict) {
    const auto& since = verdict.outside_since;
    return {since ? FindingsController::tr("step %1").arg(*since) : FindingsController::tr("inside"),
            {},
            since ? FindingsController::tr("outside since") : FindingsController::tr("healthy band"),
            FindingsController::tr("%1 healthy runs").arg(healthy.band()->runs()),
            verdict.sentence};
}

widgets::ColumnContent ofRun(const Lab& lab, const Inputs& inputs, std::size_t group) {
    const std::size_t run = lab.view().groups().groups[group].members.front();
    const RunData& data = *lab.comparison().runs[run].data;
    widgets::ColumnContent content;
    content.name = QString::fromStdString(data.name);
    content.hue = static_cast<int>(group);
    content.headline = headline(data, lab.view().step());
    content.numbers = widgets::runNumbers(inputs.growth, inputs.gradients, run);
    QStringList sentences;
    for (const Finding& finding : findings(data, lab.comparison().exploring() ? 0 : lab.view().step()))
        sentences << QString::fromStdString(finding.text);
    if (const auto verdict = lab.healthy().verdict(lab.comparison().runs[run])) {
        content.numbers.push_back(ofHealthyRuns(lab.healthy(), *verdict));
        sentences << verdict->sentence;
    }
    content.findings = sentences.join(u'\n');
    return content;
}

widgets::RemedyTable::Row rowOf(const Lab& lab, const std::string& id) {
    widgets::RemedyTable::Row row;
    const auto& runs = lab.comparison().runs;
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const LabRun& r) { return r.id == id; });
    if (run == runs.end()) {
        row.outcome = QObject::tr("removed");
        return row;
    }
    const RunData& data = *run->data;
    row.name = text(data.name);
    row.run = static_cast<int>(run - runs.begin());
    row.state = data.outcome.state;
    row.outcome = run->unfinished() ? QObject::tr("step %1").arg(run->lastStep() + 1)
                                    : widgets::outcomeWord(data.outcome.state);
    const FinalValues values = final_values(data);
    if (run->unfinished() || values.rows == 0) return row;
    row.loss = QStringLiteral("%1 ± %2").arg(text(number_text(values.loss, 3)),
                                             text(number_text(values.loss_error, 1)));
    row.gradient = text(number_text(values.gradient));
    return row;
}

widgets::RemedyContent::Choice choiceOf(const Lab& lab, const RemedyTrials& trials, std::size_t index) {
    const Remedy& remedy = trials.remedies[index];
    return {index,
            text(remedy.name),
            text(remedy.sentence),
            text(remedy.reason),
            *trials.drafts[index],
            lab.remedies().branchStep(index)};
}

widgets::RemedyContent remediesOf(const Lab& lab, const RemedyTrials& trials) {
    widgets::RemedyContent content;
    content.run = trials.run;
    const auto& runs = lab.comparison().runs;
    const auto failed =
        std::find_if(runs.begin(), runs.end(), [&](const LabRun& run) { return run.id == trials.run; });
    content.hue = static_cast<int>(failed - runs.begin());
    content.depth = trials.recipe.stack.depth;
    content.control = trials.control;
    content.obstacle = text(trials.obstacle);
    content.all = trials.remedies.size();
    content.made = static_cast<std::size_t>(std::count_if(
        trials.drafts.begin(), trials.drafts.end(), [](const auto& draft) { return draft.has_value(); }));
    content.requested = trials.requested;
    content.seconds = trials.seconds;
    for (const std::size_t i : trials.shown()) content.shown.push_back(choiceOf(lab, trials, i));
    for (const std::size_t i : trials.not_enough()) content.not_enough.push_back(choiceOf(lab, trials, i));
    content.tried = trials.tried;
    if (trials.tried.empty()) return content;
    content.rows.push_back(rowOf(lab, trials.run));
    for (const std::string& id : trials.tried) content.rows.push_back(rowOf(lab, id));
    return content;
}

widgets::FindingsContent contentOf(const Lab& lab) {
    widgets::FindingsContent content;
    const widgets::RunGroups& groups = lab.view().groups();
    for (const widgets::RunGroup& group : groups.groups) content.names << group.name;
    content.order = byPriority(lab);
    if (groups.any()) {
        content.column = [&lab](std::size_t group) { return ofGroup(lab, group); };
        content.key = {groupTotal(lab), outcomeTotal(lab),
                       FindingsController::tr("median of %1, band from min to max").arg(groups.members())};
    } else {
        content.column = [&lab, inputs = Inputs(lab)](std::size_t group) {
            return ofRun(lab, inputs, group);
        };
    }
    if (const RemedyTrials* trials = lab.remedies().trials()) content.remedies = remediesOf(lab, *trials);
    return content;
}

}  // namespace

FindingsController::FindingsController(Lab& lab, QWidget* parent)
    : QObject(parent),
      lab_(lab),
      band_(new widgets::FindingsBand([&lab] { return contentOf(lab); }, parent)),
      why_(new widgets::WhyBox(parent)) {
    connect(band_, &widgets::FindingsBand::whyRequested, this, &FindingsController::showWhy);
    connect(why_, &widgets::WhyBox::plotRequested, this, &FindingsController::plotRequested);
    // What it states is of the step and the runs that it was asked for.
    connect(&lab, &Lab::runsChanged, why_, &QWidget::hide);
    connect(&lab, &Lab::viewChanged, why_, &QWidget::hide);
    connect(&lab, &Lab::runsChanged, band_, &widgets::FindingsBand::refreshLater);
    connect(&lab, &Lab::viewChanged, band_, &widgets::FindingsBand::refreshLater);
    connect(&lab, &Lab::dataChanged, band_, &widgets::FindingsBand::refreshLater);
    connect(&lab.healthy(), &HealthyReference::changed, band_, &widgets::FindingsBand::refreshLater);
    connect(&lab.remedies(), &Remedies::changed, band_, &widgets::FindingsBand::refreshLater);
    connect(band_, &widgets::FindingsBand::draftsRequested, &lab.remedies(), &Remedies::draft);
    connect(band_, &widgets::FindingsBand::tryRequested, &lab,
            [&lab](const std::string& run, const std::vector<std::size_t>& remedies) {
                // The failed run may be another one by now.
                if (const RemedyTrials* trials = lab.remedies().trials(); trials && trials->run == run)
                    lab.remedies().tryOut(remedies);
            });
}

void FindingsController::explainFailure() {
    const auto& groups = lab_.view().groups().groups;
    for (const std::size_t g : byPriority(lab_)) {
        const RunData& data = *lab_.comparison().runs[groups[g].members.front()].data;
        if (headline(data, lab_.view().step()).title.empty()) continue;
        return showWhy(static_cast<int>(g), band_->below(static_cast<int>(g)));
    }
    Q_EMIT noted(tr("No run has failed at the shown step"));
}

std::vector<widgets::SearchEntry> FindingsController::commands() {
    std::vector<widgets::SearchEntry> all;
    const RemedyTrials* trials = lab_.remedies().trials();
    if (!trials) return all;
    for (const std::size_t i : trials->shown())
        all.push_back(
            {tr("Remedy: %1 (%2)").arg(text(trials->remedies[i].name), text(trials->remedies[i].sentence)),
             [this, id = trials->remedies[i].id, run = trials->run] {
                 // The run may have been trained further meanwhile, with other remedies.
                 const RemedyTrials* now = lab_.remedies().trials();
                 for (std::size_t k = 0; now && now->run == run && k < now->remedies.size(); ++k)
                     if (now->remedies[k].id == id) return lab_.remedies().tryOut({k});
             }});
    return all;
}

void FindingsController::showWhy(int group, const QPoint& below) {
    const auto& groups = lab_.view().groups().groups;
    if (group < 0 || group >= std::ssize(groups)) return;
    const std::size_t run = groups[static_cast<std::size_t>(group)].members.front();
    const RunData& data = *lab_.comparison().runs[run].data;
    const std::string title = headline(data, lab_.view().step()).title;
    if (!title.empty())
        why_->showAt(below, {text(data.name), group, text(title), why(data, lab_.view().step())});
}

}  // namespace normscope::app
