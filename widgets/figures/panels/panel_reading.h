// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string>
#include <vector>

namespace normscope::widgets {

/// What a user asks; the panels that answer it are listed together.
enum class PanelQuestion { Learning, Growth, FirstLayer, Attention, Precision };
inline constexpr PanelQuestion kPanelQuestions[] = {PanelQuestion::Learning, PanelQuestion::Growth,
                                                    PanelQuestion::FirstLayer, PanelQuestion::Attention,
                                                    PanelQuestion::Precision};
/// "Is it learning?"
QString questionText(PanelQuestion question);

/// How a panel is read: what to look for in it, and what that means. Sentences to read aloud.
struct PanelReading {
    PanelQuestion question = PanelQuestion::Learning;
    QString look_for, means;
};

/// What a sample of the panel's probes takes: cost_word() of the most expensive one, and whether a training
/// measures it only where its recipe names it. Empty where no probe is needed.
QString costText(const std::vector<std::string>& probes);

/// Of the panel of this id; both empty for other figures.
PanelReading panelReading(const std::string& panel);

}  // namespace normscope::widgets
