// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/search_controller.h"
#include "tests/app/window/window_bench.h"
#include "tests/support/test_main.h"
#include "widgets/dialogs/command_search.h"

#include <QLineEdit>
#include <QListWidget>
#include <QtTest>
#include <utility>
#include <vector>

using namespace normscope;
using namespace normscope::app;
using test::WindowBench;

namespace {

/// What people of the field type, and the first entry that they should get (its beginning).
const std::vector<std::pair<const char*, const char*>> kQueries = {
    {"intervention", "While training, raise ε"},
    {"tiny-vit", "Preset: Tiny vision transformer"},
    {"vit", "Preset: "},
    {"why", "Why did the run fail?"},
    {"diagnose", "Why did the run fail?"},
    {"remedy", "Try the remedies"},
    {"fix", "Try the remedies"},
    {"lr", "Knob: Learning rate"},
    {"learning rate", "Knob: Learning rate"},
    {"warmup", "Knob: Warm-up"},
    {"warm up", "Knob: Warm-up"},
    {"theta", "Panel: θ"},
    {"softmax", "Knob: τ"},
    {"temperature", "Knob: τ"},
    {"tau", "Knob: τ"},
    {"dt", "Knob: Δt"},
    {"delta t", "Knob: Δt"},
    {"residual step", "Knob: Δt"},
    {"seed", "Knob: Seed"},
    {"random seed", "Knob: Seed"},
    {"resume", "Resume the selected run"},
    {"eps", "Knob: ε"},
    {"epsilon", "Knob: ε"},
    {"depth", "Knob: Depth"},
    {"number of layers", "Knob: Depth"},
    {"n_layer", "Knob: Depth"},
    {"width", "Knob: Width"},
    {"d_model", "Knob: Width"},
    {"hidden size", "Knob: Width"},
    {"heads", "Knob: Heads"},
    {"n_head", "Knob: Heads"},
    {"gqa", "Knob: KV heads"},
    {"norm placement", "Knob: Scheme"},
    {"postnorm", "Preset: Post-LN"},
    {"prenorm", "Preset: Pre-LN"},
    {"peri", "Preset: Peri-LN"},
    {"rmsnorm", "Knob: Norm"},
    {"rope", "Knob: RoPE base"},
    {"swiglu", "Knob: Activation"},
    {"gelu", "Knob: Activation"},
    {"mlp", "Knob: FFN width"},
    {"context", "Knob: Context"},
    {"sequence length", "Knob: Context"},
    {"adam", "Knob: Optimiser"},
    {"sgd", "Knob: Optimiser"},
    {"init", "Knob: Init"},
    {"weight decay", "Knob: Decay"},
    {"wd", "Knob: Decay"},
    {"grad clip", "Knob: Clip"},
    {"batch size", "Knob: Batch"},
    {"epochs", "Knob: Steps"},
    {"fp16", "Knob: Precision"},
    {"mixed precision", "Knob: Precision"},
    {"amp", "Knob: Precision"},
    {"dataset", "Knob: Data"},
    {"gpu", "Choose the training device"},
    {"vanishing", "Panel: Gradients by depth"},
    {"exploding", "Panel: Gradients by depth"},
    {"hidden state", "Panel: Growth"},
    {"singular values", "Panel: Jacobian spectra"},
    {"null space", "Panel: Norm sites"},
    {"rank collapse", "Panel: Tokens"},
    {"attention sink", "Panel: Attention"},
    {"rounding", "Panel: Low-precision error"},
    {"overflow", "Panel: Ranges of values"},
    {"validation loss", "Panel: Loss"},
    {"grid search", "New sweep"},
    {"pdf", "Export the figure"},
    {"dark mode", "Light or dark theme"},
    {"fullscreen", "Presentation mode"},
    {"huggingface", "Import a model"},
    {"theorem", "Claims of the papers"},
    {"breakpoint", "Watchpoints"},
    {"train", "Train or pause"},
    {"fork", "Fork from this step"},
};

}  // namespace

class SearchWordsWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theFieldsWordsFindTheirEntryFirst() {
        WindowBench b;
        b.window->search()->open();
        auto* search = b.find<widgets::CommandSearch>("commandSearch");
        auto* input = search->findChild<QLineEdit*>("commandInput");
        auto* list = search->findChild<QListWidget*>("commandList");
        QVERIFY(kQueries.size() >= 60);
        QStringList wrong;
        for (const auto& [query, expected] : kQueries) {
            input->setText(QString::fromUtf8(query));
            const QString first = list->item(0)->text();
            if (!first.startsWith(QString::fromUtf8(expected)))
                wrong << QString("%1: \"%2\" instead of \"%3\"").arg(query, first, expected);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void whatThisLabDoesNotHaveIsNamed() {
        WindowBench b;
        b.window->search()->open();
        auto* search = b.find<widgets::CommandSearch>("commandSearch");
        auto* input = search->findChild<QLineEdit*>("commandInput");
        auto* list = search->findChild<QListWidget*>("commandList");
        for (const auto& [query, line] : {std::pair{"dropout", "Dropout is not in this lab"},
                                          {" Flash  Attention ", "Flash attention is not in this lab"},
                                          {"zzz", "Nothing found with these words"}}) {
            input->setText(query);
            QCOMPARE(list->count(), 1);
            QCOMPARE(list->item(0)->text(), QString(line));
            QVERIFY(!(list->item(0)->flags() & Qt::ItemIsEnabled));
        }
    }
};

NORMSCOPE_WIDGET_TEST(SearchWordsWindowTest)
#include "search_words_window_test.moc"
