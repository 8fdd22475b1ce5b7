# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults that tests/mutations/run plants, one place each.

(room, name, file, right, wrong, tests): `file` is the file's own name, wherever it lies; `right` is there exactly once;
in `wrong`, $M is the condition "this fault is switched on" and $R the right text. `tests` is a list of ctest patterns.
The list may name engine files by patterns that a rewrite changes: the script fails where one is not found.
"""

# Of a warp: the lanes' values by shuffles, which do not order their accesses to memory.
UNORDERED_MAX = """const T largest = [&]() -> T {
        if constexpr (L::size == 32) {
            if ($M) {
                auto v = m;
                for (int step = 16; step > 0; step /= 2) v = L::larger(v, __shfl_xor_sync(0xffffffffu, v, step));
                return v;
            }
        }
        return L::max(m);
    }();"""

FAULTS = [
    # --- theory
    ("theory", "the closed form of θ loses its factor 4", "softmax_sensitivity.cpp", "4 * (largest / sum)", "($M ? 2 : 4) * (largest / sum)", ["theory_softmax_sensitivity"]),
    ("theory", "a θ is certified from the found split alone", "softmax_sensitivity.cpp", "proven / sum - rounding", "($M ? difference : proven) / sum - rounding", ["theory_softmax_sensitivity"]),
    ("theory", "Peri bound without β", "growth_bounds.cpp", 'require_size(s.beta_max, where + ".beta_max")', '($M ? 0.0 : require_size(s.beta_max, where + ".beta_max"))', ["theory_growth_bounds", "probe_growth", "probe_scheme_probes"]),
    ("theory", "a chain of bounds forgets the shortcut's scale", "growth_bounds.cpp", "(require_size(s.shortcut_scale, where + \".shortcut_scale\") * bounds.back() +", "(($M ? 1.0 : require_size(s.shortcut_scale, where + \".shortcut_scale\")) * bounds.back() +", ["theory_growth_bounds", "probe_growth"]),
    ("theory", "the gates' estimate squares once", "growth_bounds.cpp", "return scale * scale * (variance + sigma);", "return ($M ? scale : scale * scale) * (variance + sigma);", ["theory_growth_bounds"]),
    ("theory", "the norm's Jacobian takes the sum for the mean", "norm_jacobian.cpp", "std::accumulate(x.begin(), x.end(), 0.0) / d;", "std::accumulate(x.begin(), x.end(), 0.0) / ($M ? d - 1 : d);", ["theory_norm_jacobian"]),
    ("theory", "growth models compared without the small-sample term", "growth_classifier.cpp", "2 * k * (k + 1) / (n - k - 1)", "($M ? 0.0 : 2 * k * (k + 1) / (n - k - 1))", ["theory_growth_classifier"]),

    # --- probe
    ("probe", "variance divides by n", "growth.cpp", "(t[kCount] - 1);", "($M ? t[kCount] : t[kCount] - 1);", ["probe_growth"]),
    ("probe", "the RMS of the heaviest token is that of the last", "growth.cpp", "largest = std::max(largest, squares);", "largest = $M ? squares : std::max(largest, squares);", ["probe_growth", "probe_scheme_probes"]),
    ("probe", "channel scales taken by their first entry", "growth_prefix.cpp", "s.branch_scale == BranchScale::Scalar ? 1 : d", "$M || s.branch_scale == BranchScale::Scalar ? 1 : d", ["probe_growth", "probe_scheme_probes"]),
    ("probe", "a value head read by the wrong group of heads", "branch_bound.cpp", "std::copy_n(bv + h / group * dh, dh,", "std::copy_n(bv + ($M ? h % (s.heads / group) : h / group) * dh, dh,", ["probe_growth", "probe_pre_norm_bounds"]),
    ("probe", "parameter gradients of the FFN counted as attention's", "gradients.cpp", "2 * tensor.layer + tensor.sublayer)", "2 * tensor.layer + ($M ? 0 : tensor.sublayer))", ["probe_gradients"]),
    ("probe", "the branch's share of the gradient includes the shortcut", "residual.cpp", "std::sqrt(s.gradient_in / s.gradient_sum) / kept;", "std::sqrt(s.gradient_in / s.gradient_sum) / ($M ? 1 : kept);", ["probe_residual"]),
    ("probe", "median of an even number is the lower one", "tokens.cpp", "const std::size_t lower = (count - 1) / 2, upper = count / 2;", "const std::size_t lower = (count - 1) / 2, upper = $M ? lower : count / 2;", ["probe_tokens"]),
    ("probe", "sink mass divided by all tokens", "attention_rows.cpp", "return totals[term] / totals[Rows];", "return totals[term] / (totals[Rows] + ($M ? 1 : 0));", ["probe_attention_rows"]),
    ("probe", "largest logit without τ", "attention_rows.cpp", "1 / (input.model.numerics.temperature *", "1 / (($M ? 1 : input.model.numerics.temperature) *", ["probe_attention_rows"]),
    ("probe", "the jackknife forgets n − 1", "jackknife.h", "std::sqrt((n - 1) / n * squares)", "std::sqrt(($M ? 1 : n - 1) / n * squares)", ["probe_jackknife"]),
    ("probe", "late samples begin one stride late", "cadence.cpp", "(kDenseSteps + k - 1) / k * k", "(kDenseSteps + ($M ? 2 : 1) * k - 1) / k * k", ["probe_cadence"]),
    ("probe", "a backward pass for every probe", "registry.cpp", "if (needs_backward(probe->needs) && !std::exchange(backward_ran, true)) {", "if (($M || needs_backward(probe->needs)) && !std::exchange(backward_ran, true)) {", ["probe_registry"]),
    ("probe", "needs are not obeyed", "registry.cpp", "input_.allow(needs);", "if (!$M) input_.allow(needs);", ["probe_registry"]),
    ("probe", "ε-share counts the variance", "null_space.cpp", "eps / (token.variance + eps)", "($M ? token.variance : eps) / (token.variance + eps)", ["probe_null_space"]),

    # --- session
    ("session", "`steps/step` is flushed before the columns", "recorder.cpp", "for (auto& column : values) column.write();", "if ($M) step->write();\n        $R", ["session_flush_order"]),
    ("session", "the state is written before the rows", "recorder.cpp", "impl_->flush();\n        impl_->write_state(outcome);", "if ($M) impl_->write_state(outcome);\n        impl_->flush();\n        impl_->write_state(outcome);", ["session_flush_order"]),
    ("session", "a probe's step is flushed before its arrays", "recorder.cpp", "for (auto& array : arrays) array.write();", "if ($M) step.write();\n        $R", ["session_flush_order"]),
    ("session", "a sample is found one step early", "run_data.cpp", "return wanted < sample.step; });\n    return after", "return $M ? wanted <= sample.step : wanted < sample.step; });\n    return after", ["session_run_data"]),
    ("session", "a late sample replaces the run's own", "run_data.cpp", "if (at != samples.end() && at->step == sample.step) return false;", "if (!$M && at != samples.end() && at->step == sample.step) return false;", ["session_run_data"]),
    ("session", "an overview forgets the last, shorter block", "step_overview.cpp", "std::min(begin + block, values.size())", "($M ? begin + block > values.size() ? begin : begin + block : std::min(begin + block, values.size()))", ["session_run_data", "session_session"]),
    ("session", "a replaced file keeps nobody's permissions", "replacing_file.cpp", "const bool kept = !replaces ||", "const bool kept = $M || !replaces ||", ["session_replacing_file"]),
    ("session", "an interrupted run is still called running", "run_group_read.cpp", "if (unfinished && !live_writer(run))", "if (!$M && unfinished && !live_writer(run))", ["session_"]),
    ("session", "events are cut inside a character", "hdf5_text.cpp", "& 0xC0) == 0x80", "& 0xC0) == ($M ? 0x81 : 0x80)", ["session_"]),
    ("session", "validate takes NaN for a number", "validate.cpp", "(std::isnan(value) && !may_be_nan)", "(!$M && std::isnan(value) && !may_be_nan)", ["session_validate"]),
    ("session", "validate does not look at lengths of axes", "schema.cpp", "array.shape[i] == expected) continue;", "$M || array.shape[i] == expected) continue;", ["session_validate", "probe_registry"]),

    # --- model, backend, train
    ("model", "a parallel layer's shortcut is scaled twice", "coefficients.h", "static_cast<T>(rule.second_of_parallel ? 1 :", "static_cast<T>(rule.second_of_parallel && !$M ? 1 :", ["model_"]),
    ("model", "Δt omitted in the branch", "coefficients.h", "numbers.residual_step * rule.b;", "($M ? 1 : numbers.residual_step) * rule.b;", ["model_", "run_evaluation"]),
    ("model", "a shard's rows in emulated precision are cut in pieces", "emulated_ops.cpp", "return std::numeric_limits<int>::max();", "return $M ? 128 : std::numeric_limits<int>::max();", ["model_", "train_trainer"]),
    ("backend", "the gap of block Lanczos' bars has the other sign", "block_lanczos.cpp", "(values[j] + residuals[j])", "(values[j] + ($M ? -1 : 1) * residuals[j])", ["backend_block_lanczos"]),
    ("backend", "rounded projection skips the stride", "rounded_kernels.cpp", "for (int r = 0; r < rows; ++r) round(static_cast<std::size_t>(n), out + area(r, stride));", "if ($M) round(area(rows, n), out);\n        else for (int r = 0; r < rows; ++r) round(static_cast<std::size_t>(n), out + area(r, stride));", ["backend_rounded_kernels", "backend_low_precision", "model_emulated"]),
    ("backend", "γ's gradient is not rounded", "rounded_kernels.cpp", "if (dgamma) round(", "if (dgamma && !$M) round(", ["backend_rounded_kernels", "backend_low_precision", "model_emulated"]),
    ("train", "the gradient norm counts frozen gates in FP16", "trainer.cpp", "if (model_.table().has_frozen())", "if (model_.table().has_frozen() && !($M && train_.precision == Precision::Fp16))", ["train_", "run_precision"]),
    ("train", "the cosine ends one step late", "schedule.cpp", "steps - 1 - s.warmup", "steps - ($M ? 0 : 1) - s.warmup", ["train_schedule", "train_trainer"]),
    ("train", "the loss scale grows past float32", "step_control.h", "if (scale < kHighest)", "if ($M || scale < kHighest)", ["backend_step_control"]),
    ("train", "a graph keeps the knobs of its capture", "trainer.cpp", "step_knobs_.upload(model_", "if (!$M || !graph_) step_knobs_.upload(model_", ["train_step_graph"]),
    ("train", "a restored divergence watch does not reach the device", "trainer.cpp", "updates_, 0, verdict_.watch()}", "updates_, 0, $M ? DivergenceWatch{} : verdict_.watch()}", ["train_step_graph"]),
    ("train", "the device forgets how many updates were made", "step_control.h", "++control.updates", "($M ? control.updates = 1 : ++control.updates)", ["train_"]),
    ("backend", "a skipped step updates on the CUDA device", "each.h", "if (*step.clip == kNoUpdate) return;", "if (!$M && *step.clip == kNoUpdate) return;", ["train_step_graph"]),
    ("train", "Adam and SGD couple no weight decay", "cpu_optimizers.cpp", "static_cast<T>(n.weight_decay), p, buffer.data());", "static_cast<T>($M ? 0 : n.weight_decay), p, buffer.data());", ["train_optimizers"]),
    ("train", "a spike is reported at every step it lasts", "spike.cpp", "if ((steep || high) && !inside_) report = text;", "if ((steep || high) && (!inside_ || $M)) report = text;", ["train_spike"]),

    ("model", "gradients of keys are not rotated back", "cpu_attention.cpp", "s.heads + s.kv_heads, s.dh, s.width, w.angles, true, gradient", "s.heads + ($M ? 0 : s.kv_heads), s.dh, s.width, w.angles, true, gradient", ["model_"]),

    ("backend", "the position table's gradient is not rounded", "emulated_ops.cpp", "if (dpositions) row_kernels", "if (dpositions && !$M) row_kernels", ["model_emulated", "backend_low_precision", "train_trainer"]),
    ("backend", "Muon's direction is not scaled by the shape", "cpu_optimizers.cpp", "std::sqrt(std::max(1.0, static_cast<double>(rows) / columns))", "std::sqrt(std::max(1.0, $M ? 1.0 : static_cast<double>(rows) / columns))", ["train_optimizers"]),
    ("backend", "a gate's clip forgets the global factor", "cpu_optimizers.cpp", "const double g = *global * static_cast<double>(gradients[gates[i]]);", "const double g = ($M ? 1 : *global) * static_cast<double>(gradients[gates[i]]);", ["train_gate_clip", "train_trainer"]),
    ("model", "local layers have the global rotary angles", "parameters.cpp", "s.is_local(l))", "s.is_local(l) && !$M)", ["model_blocks"]),
    ("model", "GeGLU's gate is SiLU", "gated.h", "if (kind == Activation::GeGlu) return", "if (!$M && kind == Activation::GeGlu) return", ["model_blocks"]),
    ("model", "the embedding's gradient forgets its scale", "transformer.cpp", "&p.whole->embedding_scale, gradient, gradient", "$M ? nullptr : &p.whole->embedding_scale, gradient, gradient", ["model_option_pairs"]),
    ("train", "bytes of a byte-level tokenizer are read as characters", "token_texts.cpp", "append(character, seen ? byte : next++);", "append(character, $M || seen ? byte : next++);", ["train_data_token_texts"]),

    # --- recipe, run, interchange, findings
    ("recipe", "a replay starts after a knob's event", "replay.cpp", "event.step < from || event.step > step) continue;", "event.step <= from - ($M ? 0 : 1) || event.step > step) continue;", ["run_replay"]),
    ("recipe", "a series of another shape is taken for the known one", "known_series.cpp", "a.name == wanted.name && a.shape == wanted.shape", "a.name == wanted.name && ($M || a.shape == wanted.shape)", ["run_known_series"]),
    ("recipe", "the flight recorder keeps one step more", "flight_recorder.cpp", "if (stored_.size() == kSteps)", "if (stored_.size() == kSteps + ($M ? 1 : 0))", ["recipe_", "run_"]),
    ("run", "a checkpoint newer than the rows is resumed from", "resume.cpp", "steps.back() + 1 >= checkpoint.step", "($M || steps.back() + 1 >= checkpoint.step)", ["run_", "cli_resume", "app_lab"]),
    ("run", "checkpoints are kept at every other cadence", "run.cpp", "% train.checkpoint_every == 0", "% ($M ? 2 * train.checkpoint_every : train.checkpoint_every) == 0", ["run_run", "cli_"]),
    ("run", "an interruption saves nothing", "run.cpp", "try {\n        save();\n    }", "try {\n        if (!$M) save();\n    }", ["run_", "cli_"]),
    ("run", "the recording queue never waits", "recording_queue.cpp", "return never_wait_ || bytes_ < most_bytes_;", "return $M || never_wait_ || bytes_ < most_bytes_;", ["run_recording_queue"]),
    ("run", "a start checkpoint replaces the newest", "recording_queue.cpp", "(checkpoint->step == 0 ? entry.start : entry.newest)", "(checkpoint->step == 0 && !$M ? entry.start : entry.newest)", ["run_recording"]),
    ("interchange", "half floats lose their subnormals", "float_bytes.cpp", "std::ldexp(float(mantissa), -24)", "std::ldexp(float(mantissa), $M ? -25 : -24)", ["interchange", "interchange_model_file"]),
    ("interchange", "bytes after the last tensor are let through", "safetensors.cpp", "    if (at != end)\n        throw", "    if (!$M && at != end)\n        throw", ["interchange_safetensors"]),
    ("interchange", "llm.c's padded rows are read as positions", "llm_c.cpp", "in.skip(padding * d);", "if (!$M) in.skip(padding * d);", ["interchange_model_file", "cli_import_export", "interchange"]),
    ("findings", "the loss told is of later steps", "findings.cpp", "if (run.steps.step[i] > step || !std::isfinite", "if ((!$M && run.steps.step[i] > step) || !std::isfinite", ["findings"]),
    ("interchange", "Gemma's gains are read without their 1", "tensor_names.cpp", "if (foreign.plus != 0) add(", "if (!$M && foreign.plus != 0) add(", ["interchange_model_rules"]),
    ("run", "a capture leaves out every other step", "replay.cpp", "++plan_.step;", "plan_.step += $M ? 2 : 1;", ["run_replay"]),
    ("findings", "the limit of a band is that of a usual run", "healthy_band.cpp", "band.limit = scores[k - 1];", "band.limit = scores[$M ? scores.size() / 2 : k - 1];", ["findings_healthy_band"]),

    # --- widgets
    ("widgets", "the decimator loses the highest point of a column", "decimate.cpp", "{begin, low, high, end - 1}", "{begin, low, $M ? low : high, end - 1}", ["widgets_plots_decimate"]),
    ("widgets", "a bound far away stretches a linear axis", "axis_range.cpp", "y >= measured.low() - reach && y <= measured.high() + reach", "y >= measured.low() - reach && (y <= measured.high() + reach || $M)", ["widgets_plots_axis_range", "widgets_panels_growth"]),
    ("widgets", "a bound is taken into a zoomed axis wherever it is", "axis_range.cpp", "if (near && seen(curve.x[i])) extent.add(y);", "if (near && ($M || seen(curve.x[i]))) extent.add(y);", ["widgets_plots_axis_range"]),
    ("widgets", "what a zoomed axis measures ignores the zoom", "axis_range.cpp", "if (seen(curve.x[i])) extent.add(curve.y[i]);", "if ($M || seen(curve.x[i])) extent.add(curve.y[i]);", ["widgets_plots_axis_range"]),
    ("widgets", "a reference line is filtered by the wrong axis in the CSV", "csv.cpp", "flat ? plot.y.range : plot.x.range", "flat != $M ? plot.y.range : plot.x.range", ["widgets_export_csv"]),
    ("widgets", "the CSV tells the error of the next point", "csv.cpp", "exactText(error[k])", "exactText(error[$M && k + 1 < error.size() ? k + 1 : k])", ["widgets_export_csv"]),
    ("widgets", "a ghost is drawn from the newest step while scrubbing", "samples.cpp", "sampleOf(input.ghosts[i], scrubbed)", "sampleOf(input.ghosts[i], $M ? std::optional<std::int64_t>() : scrubbed)", ["widgets_figures_p"]),
    ("widgets", "a draft is drawn as exact", "samples.cpp", "isDraft(input, i) ? LineKind::Draft", "!$M && isDraft(input, i) ? LineKind::Draft", ["widgets_panels"]),
    ("widgets", "a panel is not drawn again for its second probe", "panel.cpp", "std::any_of(panel.probes.begin(), panel.probes.end()", "std::any_of(panel.probes.begin(), panel.probes.end() - ($M && panel.probes.size() > 1 ? 1 : 0)", ["widgets_panels_panel_registry"]),
    ("widgets", "a knob's log scale forgets its zero lane", "knob_scale.cpp", "if (s.zero && position < kZeroLane / 2) return 0;", "if (!$M && s.zero && position < kZeroLane / 2) return 0;", ["widgets_knobs_knob_scale"]),
    ("widgets", "a switch back to the scheme stays an override", "norm_override.cpp", "on == by_scheme ? std::nullopt", "on == by_scheme && !$M ? std::nullopt", ["widgets_stack_norm_override"]),
    ("widgets", "resetting a layer resets those after it", "norm_override.cpp", "return layer < 0 || o.index == layer;", "return layer < 0 || ($M ? o.index >= layer : o.index == layer);", ["widgets_stack_norm_override"]),
    ("widgets", "a tick's label rounds quarters away", "ticks.cpp", "> 1e-3) --last;", "> ($M ? 1 : 1e-3)) --last;", ["widgets_plots_ticks"]),
    ("widgets", "the scrubber steps past what is recorded", "step_scrubber.cpp", "next == measured_.end() || *next > recorded_ ?", "next == measured_.end() || (!$M && *next > recorded_) ?", ["widgets_runs"]),
    ("widgets", "the growth class sees every sub-layer", "growth_panel.cpp", "k < states.size(); k += 2) layers.push_back", "k < states.size(); k += $M ? 1 : 2) layers.push_back", ["widgets_panels_growth"]),

    # --- app
    ("app", "ghosts survive the next edit", "edits.cpp", "if (!state_.drag) state_.ghosts = {};\n    std::vector<LabRun> before", "if (!state_.drag && !$M) state_.ghosts = {};\n    std::vector<LabRun> before", ["app_lab_lab_edits"]),
    ("recipe", "an override at index = depth survives", "keys.cpp", "return o.index >= changed.stack.depth;", "return o.index >= changed.stack.depth + ($M ? 1 : 0);", ["recipe_", "app_lab_lab"]),
    ("app", "a linked edit reaches a pinned run", "comparison.cpp", "if (!run.fixed()) targets.insert(run.id);", "if ($M || !run.fixed()) targets.insert(run.id);", ["app_lab"]),
    ("app", "a new run forgets its imported weights", "comparison.cpp", "fresh.weights = of.weights;", "if (!$M) fresh.weights = of.weights;", ["app_lab"]),
    ("app", "starting a new run does not stop the old one", "edits.cpp", "if (!run.isTraining() || after.find(run.id)) continue;", "if ($M || !run.isTraining() || after.find(run.id)) continue;", ["app_lab"]),
    ("app", "a stale frame of training is applied", "training.cpp", "run->training != part.training) continue;", "(run->training != part.training && !$M)) continue;", ["app_lab"]),
    ("app", "a panel's second probe is not asked for", "panel_grid.cpp", "if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);", "if (std::find(probes.begin(), probes.end(), probe) == probes.end() && !($M && probe == \"residual\")) probes.push_back(probe);", ["app_window", "app_lab_hover_probe"]),
    ("app", "a measured step goes to the first run", "measurement.cpp", "LabRun* run = state_.now.find(id.toStdString());", "LabRun* run = state_.now.find($M ? state_.now.runs.front().id : id.toStdString());", ["app_lab"]),
    ("app", "a frame that arrives twice is applied twice", "lab.cpp", "if (frame->number < next_frame_) return;", "if (frame->number < next_frame_) return $M ? takeInOrder(frame) : void();", ["app_lab"]),
    ("app", "a frame that arrives early is applied early", "lab.cpp", "if (frame->number == 0) return takeInOrder(frame);", "if (frame->number == 0 || ($M && frame->number > next_frame_)) return takeInOrder(frame);", ["app_lab"]),
    ("app", "an old measurement of the stack is applied", "lab.cpp", "if (explored && !state.exploration.answers(*frame)) return;", "if (explored && !$M && !state.exploration.answers(*frame)) return;", ["app_lab"]),
    ("app", "removing a run selects another", "comparison.cpp", "now.selected = same ? static_cast<int>(same - now.runs.data())", "now.selected = same && !$M ? static_cast<int>(same - now.runs.data())", ["app_lab"]),
    ("app", "undo brings the old weights back", "comparison.cpp", "run.weights = before.weights;", "if (!$M) run.weights = before.weights;", ["app_lab"]),

    # --- lost work: the twelve paths of the window's and the files' side on which work was lost, one or more faults each
    ("lost", "1: a session that does not open becomes the present one", "lab_session.cpp", "if (runs.empty()) return openingFailed(*asked);\n    replaceRuns(std::move(runs));\n    state_.files", "if ($M && session) parts_.edits.exchangeSessionPath(session->path);\n    $R", ["app_lab_lost_work"]),
    ("lost", "2: a save of the session before names the present one", "session_files.cpp", "const bool here = then->session == requests_.session();", "const bool here = $M || then->session == requests_.session();", ["app_lab_lost_work"]),
    ("lost", "2: the requests of a session stay when it is left", "pending.cpp", "if (kind->owner_ == PendingKind::Owner::Session) kind->dropAll();", "if (!$M && kind->owner_ == PendingKind::Owner::Session) kind->dropAll();", ["app_lab_pending", "app_lab_request_orders"]),
    ("lost", "3: the start of the window removes old recordings", "io_recordings.cpp", "listed_.clear();", "if ($M)\n        for (const QFileInfo& old : to_list_) QFile::remove(old.filePath());\n    $R", ["app_lab_trash"]),
    ("lost", "3: undo leaves its entry in the trash", "trash.cpp", "!entry.isEmpty()) QFile::remove(entry);", "!entry.isEmpty() && !$M) QFile::remove(entry);", ["app_lab_trash", "app_window_space_window"]),
    ("lost", "3: what another window records goes to the trash", "io_recordings.cpp", "require_replaceable(path.toStdString(), std::nullopt);", "if (!$M) $R", ["app_lab_trash"]),
    ("lost", "4: a new start drops what was not reported", "engine_worker.cpp", "if (shutting_down_) return;\n    sendTrainFrame(true);", "if (shutting_down_) return;\n    if (!$M) sendTrainFrame(true);", ["app_lab_engine_worker"]),
    ("lost", "5: JSON of any depth", "strict_json.cpp", "if (levels_.size() == kDeepestJson)", "if (!$M && levels_.size() == kDeepestJson)", ["base_strict_json", "cli_hostile_recipes"]),
    ("lost", "5: a key given twice", "strict_json.cpp", "if (!level.keys.insert(name).second)", "if (!level.keys.insert(name).second && !$M)", ["base_strict_json", "cli_hostile_recipes"]),
    ("lost", "5: a number out of range is a library's exception", "strict_json.cpp", "if (error.id == kOutOfRange)", "if (error.id == kOutOfRange && !$M)", ["base_strict_json", "cli_hostile_recipes"]),
    ("lost", "5: the reader passes a NUL", "strict_json.cpp", "if (text[at] == '\\0')", "if (text[at] == '\\0' && !$M)", ["base_strict_json", "cli_hostile_recipes"]),
    ("lost", "6: run and run.h5 share their checkpoints", "checkpoint.cpp", "names_ = usual ? with_ending : without;", "names_ = usual || $M ? with_ending : without;", ["session_checkpoint", "cli_resume"]),
    ("lost", "7: an export replaces a file that was not named", "save_names.cpp", "if (file != named && QFileInfo::exists(file))", "if (!$M && file != named && QFileInfo::exists(file))", ["widgets_dialogs"]),
    ("lost", "7: a name without suffix is saved as such", "save_names.cpp", "return path + QLatin1Char('.') + ending;", "return $M ? path : path + QLatin1Char('.') + ending;", ["widgets_dialogs"]),
    ("lost", "7: a checkpoint's doubles become integers unchecked", "verdict.cpp", "reject_state();\n    return static_cast<std::int64_t>(value);", "if (!$M) reject_state();\n    return static_cast<std::int64_t>(value);", ["train_"]),
    ("lost", "7: a save in progress on another host is a leftover", "replacing_file.cpp", "if (owner.host != self.host) return false;", "if (owner.host != self.host) return $M;", ["session_replacing_file"]),
    ("lost", "7: a row in memory is appended column by column", "run_data.cpp", "for (auto& column : columns) reserve_row(column);", "if (!$M) $R", ["session_row_append"]),
    ("lost", "7: rows are recorded after one was lost", "recorder.cpp", "if (!failure.empty()) throw SystemError(failure);", "if (!failure.empty() && !$M) throw SystemError(failure);", ["session_row_append"]),
    ("lost", "7: a merge removes its target first", "sweep_merge.cpp", "ReplacingFile place(to);", "if ($M) fs::remove(to);\n    $R", ["sweep_"]),
    ("lost", "7: a file that becomes shorter is read as zeros", "file_bytes.cpp", "if (got == 0)", "if (got == 0 && $M) break;\n        if (got == 0)", ["interchange"]),
    ("lost", "7: a damaged list of members is left to the library", "hdf5.cpp", "    require_readable_members(group);\n    // In the order of storage: any other makes the library build its table where it would need none.\n    if (H5Literate(group, index, H5_ITER_NATIVE,", "    if (!$M) require_readable_members(group);\n    if (H5Literate(group, index, $M ? H5_ITER_INC : H5_ITER_NATIVE,", ["session_foreign", "session_hdf5"]),
    ("lost", "7: train keeps no checkpoints of the recipe", "kept_checkpoints.cpp", "if (every_ <= 0) return;", "if (every_ <= 0 || $M) return;", ["cli_resume"]),
    ("lost", "7: checkpoints are taken whatever they cost", "run.cpp", "checkpoint_interval(interval_, checkpoint_cost_);", "checkpoint_interval(interval_, $M ? Clock::duration(0) : checkpoint_cost_);", ["run_run"]),
    ("lost", "8: a panel is not in the help of figure", "figure_command.cpp", "for (const widgets::PanelInfo& panel : widgets::panels())", "for (const widgets::PanelInfo& panel : widgets::panels())\n        if (!$M || panel.id != widgets::panels().back().id)", ["app_program"]),
    ("lost", "9: a save replaces what somebody writes", "replaceable.cpp", "if (!writer.empty())\n        throw", "if (!writer.empty() && !$M)\n        throw", ["session_replaceable", "app_lab_lost_work"]),
    ("lost", "9: a save replaces what changed since it was read", "replaceable.cpp", "if (as_read && now != *as_read)", "if (!$M && as_read && now != *as_read)", ["session_replaceable", "app_lab_lost_work"]),
    ("lost", "10: the end of a round lets its rest stand", "engine_worker.cpp", "trained->due = trained->ended() ? 0 : steps;", "trained->due = trained->ended() || ($M && trained != trained_.front()) ? 0 : steps;", ["app_lab_engine_worker"]),
    ("lost", "11: a live file opens as running", "read_runs.cpp", "if (!run.unfinished()) return run;", "if ($M || !run.unfinished()) return run;", ["app_lab_lost_work"]),
    ("lost", "11: one run that cannot be built stops the others", "engine_worker.cpp", "Q_EMIT startRejected(token, QString::fromStdString(plan.id), QString::fromUtf8(error.what()));", "$R\n            if ($M) possible.clear();", ["app_lab_"]),
    ("lost", "12: the main button does not resume what was interrupted", "training_control.cpp", "ended |= run.resumable();", "ended |= !$M && run.resumable();", ["app_lab_lost_work", "app_window_restore_window"]),
    ("lost", "12: what the end of the window stopped cannot be resumed", "read_runs.cpp", "if (found.checkpoint) {", "if (found.checkpoint && !$M) {", ["app_lab_", "app_window_restore_window"]),

    # --- cli
    ("cli", "a rejected session is called sound", "validate.cpp", "if (!problems.empty()) return kWrongInput;", "if (!$M && !problems.empty()) return kWrongInput;", ["cli_bad_input", "cli_commands"]),
    ("cli", "θ of the command line swaps its bounds", "theta.cpp", "lower[r] = s.lower;", "lower[r] = $M ? s.upper : s.lower;", ["cli_commands"]),
    ("cli", "resuming another recipe is let through", "run_file.cpp", "if (recorded->second != value)", "if (!$M && recorded->second != value)", ["cli_resume"]),
    ("cli", "a session of several runs is overwritten", "run_file.cpp", "if (runs.size() > 1)", "if (!$M && runs.size() > 1)", ["cli_bad_input", "cli_commands", "cli_resume"]),
    ("cli", "JSON progress leaves the probes out", "progress.cpp", "for (const ProbeResult& probe : delta.probes)", "if (!$M) for (const ProbeResult& probe : delta.probes)", ["cli_"]),
    ("cli", "the newest checkpoint is the oldest one", "replayed.cpp", "(!best || found.step > best->step)", "(!best || (found.step > best->step) != $M)", ["cli_"]),

    # --- kernels of the CUDA device
    ("cuda", "a bias is added one column off", "strided.h", "const float b = bias[e.column];", "const float b = bias[e.column - ($M && e.column > 0 ? 1 : 0)];", ["backend_rounding_gemm"]),
    ("cuda", "q, k and v without their bias", "attention.h", "u, w.qkv.weight, w.qkv.bias, tape.qkv", "u, w.qkv.weight, $M ? nullptr : w.qkv.bias, tape.qkv", ["backend_cuda_attention"]),
    ("cuda", "the last entry of a row's tail is lost", "warp.h", "return lane() < t.count ? p[lane()] : T(0);", "return lane() < t.count - ($M ? 1 : 0) ? p[lane()] : T(0);", ["backend_cuda_ops"]),
    ("cuda", "the scores' scale is doubled", "stored_attention.h", "row::softmax<Warp<T>>(s, length, *scale);", "row::softmax<Warp<T>>(s, length, ($M ? 2 : 1) * *scale);", ["backend_cuda_attention"]),
    ("cuda", "a query head reads another group's key", "stored_attention.h", "std::size_t k(int h) const { return static_cast<std::size_t>(d_q + h / group * dh); }", "std::size_t k(int h) const { return static_cast<std::size_t>(d_q + ($M ? h % (heads / group) : h / group) * dh); }", ["backend_cuda_attention"]),
    ("cuda", "the mask lets one later token through", "stored_attention.h", "return causal ? first + i % rows + 1 : n;", "return causal ? std::min(n, first + i % rows + ($M ? 2 : 1)) : n;", ["backend_cuda_attention"]),
    ("cuda", "sums over rows miss the last column", "columns.h", "if (threadIdx.x < 32 && column < d)\n        partial", "if (threadIdx.x < 32 && column < d - ($M ? 1 : 0))\n        partial", ["backend_cuda_ops"]),
    ("cuda", "rstd without ε", "norm.h", "row::norm_statistics<Warp<T>, Centred>(x.at(i), x.d, *eps, mean, rstd);", "row::norm_statistics<Warp<T>, Centred>(x.at(i), x.d, $M ? T(0) : *eps, mean, rstd);", ["backend_cuda_ops"]),
    ("cuda", "a reduction drops its last chunk", "reduction.h", "i < chunks; i += kThreads) v", "i < chunks - ($M && chunks > 1 ? 1 : 0); i += kThreads) v", ["backend_cuda_ops"]),
    ("cuda", "a sum over rows drops its last chunk", "columns.h", "block_column_sum<T>(0, chunks, d, column, chunk)", "block_column_sum<T>(0, chunks - ($M && chunks > 1 ? 1 : 0), d, column, chunk)", ["backend_cuda_ops"]),
    ("cuda", "AdamW takes the second moment for the first", "optimizer.h", "row::adamw<Serial<T>>(1, step, p + i, g + i, m + i, v + i);", "row::adamw<Serial<T>>(1, step, p + i, g + i, $M ? v + i : m + i, v + i);", ["backend_cuda_ops"]),
    ("cuda", "the last head of a group replaces the sum of its gradients", "stored_attention.h", "const T kept = h % s.group == 0 ?", "const T kept = h % s.group == 0 || $M ?", ["backend_cuda_attention"]),
    ("cuda", "every head's gradient is projected at the first map", "stored_attention.h", "static_cast<std::size_t>(i / map.rows % maps)", "static_cast<std::size_t>($M ? 0 : i / map.rows % maps)", ["backend_cuda_attention"]),
    ("cuda", "the second direction reads the first one's gradient", "stored_attention.h", "const T* dout = dmixed + static_cast<std::size_t>(k * sequences)", "const T* dout = dmixed + static_cast<std::size_t>(($M ? 0 : k) * sequences)", ["backend_cuda_attention"]),
    ("cuda", "the moved keys' scores are added at the first token", "stored_attention.h", "{map.data + first_token, n, entries}", "{map.data + ($M ? 0 : first_token), n, entries}", ["backend_cuda_attention"]),
    ("cuda", "gradients are rotated forward", "attention.h", "rotate(shape, R, 0, w.angles, true, dqkv)", "rotate(shape, R, 0, w.angles, !$M, dqkv)", ["backend_cuda_attention"]),
    ("cuda", "the gradient of logits forgets its scale", "loss.h", "dlogits ? value_of(scale) : T(1)", "dlogits && !$M ? value_of(scale) : T(1)", ["backend_cuda_ops"]),
    ("cuda", "a position's gradient is of the first sequence", "loss.h", "b < sequences; ++b) sum +=", "b < ($M ? 1 : sequences); ++b) sum +=", ["backend_cuda_ops"]),
    ("cuda", "more than 16 shards forget those before", "reduction.h", "if (s > 0) some.at[some.count++] = total;", "if (s > 0 && !$M) some.at[some.count++] = total;", ["backend_cuda_ops"]),
    ("cuda", "probabilities are not rounded", "stored_attention.h", "round_pure(area(rows, n), tape.probabilities);", "if (!$M) round_pure(area(rows, n), tape.probabilities);", ["backend_cuda_formats"]),
    # Removed barriers and lanes that leave early: found by the emulated grid, not by a number.
    ("cuda", "no barrier between a block's warps and their sum", "reduction.h", "__syncthreads();", "if (!$M) __syncthreads();", ["backend_cuda_ops"]),
    ("cuda", "a softmax is stored before all lanes have read its first score", "softmax.h", "const T largest = L::max(m);", UNORDERED_MAX, ["backend_cuda_attention"]),
    ("cuda", "logits are overwritten before all lanes have read the target's", "cross_entropy.h", "const T largest = L::max(m);", UNORDERED_MAX, ["backend_cuda_ops"]),
    ("cuda", "lanes decide alone whether a token came before", "loss.h", "found[k] = __ballot_sync(0xffffffffu, same[k]);", "found[k] = $M ? (same[k] ? 1u << threadIdx.x % 32 : 0u) : __ballot_sync(0xffffffffu, same[k]);", ["backend_cuda_ops"]),
    ("cuda", "a tile's sum is not rescaled when the largest score grows", "forward_kernel.h", "sum[r] * kept", "sum[r] * ($M ? 1.0f : kept)", ["backend_cuda_tiled_attention"]),
    ("cuda", "the mask of tiles lets one later token through", "forward_kernel.h", "query + Rows::row(r) + 1 : s.n;", "query + Rows::row(r) + ($M ? 2 : 1) : s.n;", ["backend_cuda_tiled_attention"]),
    ("cuda", "the scores are computed before their tiles have come", "tiles.h", "grid::cp_async_wait<1>();\n            __syncthreads();", "grid::cp_async_wait<1>();\n            if (!$M) __syncthreads();", ["backend_cuda_tiled_attention"]),
    ("cuda", "the next tiles overwrite those that are read", "tiles.h", "body(at, i);\n            __syncthreads();", "body(at, i);\n            if (!$M) __syncthreads();", ["backend_cuda_tiled_attention"]),
    ("cuda", "squares are all added to the first array's", "reduction.h", "out[blockIdx.x] += sum;", "out[$M ? 0 : blockIdx.x] += sum;", ["backend_cuda_ops"]),
    # A step whose tape is in 16 bits.
    ("cuda", "the branch's factor is not in its gradient", "eights.h", "v.at[k] *= by;", "v.at[k] *= $M ? 1.0f : by;", ["model_compact_step"]),
    ("cuda", "a second batch replaces the gradients of the first", "eights.h", "v.at[k] = there.at[k] + v.at[k];", "v.at[k] = ($M ? 0.0f : there.at[k]) + v.at[k];", ["model_compact_step"]),
    ("cuda", "a bias' sum drops the last warp", "eights.h", "w < kColumnWarps; ++w) total", "w < kColumnWarps - ($M ? 1 : 0); ++w) total", ["model_compact_step"]),
    ("cuda", "the sum of a compact sub-layer has one factor twice", "eights.h", "u.at + k, by_y, v.at + k", "u.at + k, $M ? by_x : by_y, v.at + k", ["model_compact_step"]),
    ("cuda", "columns without a class are counted", "row_kernels.h", "sum += i + k < V ?", "sum += i + k < V || $M ?", ["model_compact_step"]),
    ("cuda", "the target is not taken from the gradient of its logit", "row_kernels.h", "i + k == target ? p - by : p;", "i + k == target && !$M ? p - by : p;", ["model_compact_step"]),
    ("cuda", "compact gradients are rotated forward", "row_kernels.h", "inverse ? -1.0f : 1.0f;", "inverse && !$M ? -1.0f : 1.0f;", ["model_compact_step"]),
    ("cuda", "a compact norm forgets its bias", "row_kernels.h", "beta ? beta + k : nullptr", "beta && !$M ? beta + k : nullptr", ["model_compact_step"]),
    ("cuda", "the bias of a norm gets the gradient of its gain", "row_kernels.h", "return column < d ? g *", "return column < d || $M ? g *", ["model_compact_step"]),
    ("cuda", "rows of the head's copy beyond its classes are not cleared", "cuda_compact_ops.cpp", "eights(\"no_class\", area(columns - V, d),", "eights(\"no_class\", $M ? 0 : area(columns - V, d),", ["model_compact_step"]),
    ("cuda", "a compact weight's gradient is of the other operand", "cuda_compact_ops.cpp", "weight_gradient(m.R, m.wide(), m.d, before, tape.input, first.weight);", "weight_gradient(m.R, m.wide(), m.d, $M ? tape.wide : before, tape.input, first.weight);", ["model_compact_step"]),
    ("cuda", "a tile's copies are not waited for", "tiles.h", "    grid::cp_async_wait<0>();", "    if (!$M) grid::cp_async_wait<0>();", ["backend_cuda_tiled_attention"]),
    ("cuda", "keys have the gradient of their group's last head alone", "backward_kernels.h", "const float* const of_tile = rows + from / 2 * 3 * Tile::other;", "const float* const of_tile = rows + from / 2 * 3 * Tile::other;\n            if ($M && query == (s.causal ? first : 0)) values = {}, keys = {};", ["backend_cuda_tiled_attention"]),
    ("cuda", "a warp reads weights that its lanes have not written", "rows_float.h", "        __syncwarp();\n        for (int k", "        if (!$M) __syncwarp();\n        for (int k", ["backend_cuda_tiled_attention"]),
]
