// SPDX-License-Identifier: GPL-3.0-or-later
// Which formats a device has, as `devices` states them, and the line for one that it lacks.
#include "core/backend/device.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class FormatsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void lines() {
        QCOMPARE(precision_line(card_formats(8)), "precision fp32, fp64, tf32, bf16, fp16");
        QCOMPARE(precision_line(card_formats(12)), precision_line(card_formats(8)));
        QCOMPARE(precision_line(card_formats(7)), "precision fp32, fp64, fp16; not tf32, bf16");
        QCOMPARE(precision_line(cpu_device().capabilities().formats),
                 "precision fp32, fp64; tf32, bf16, fp16 emulated");
    }

    void whatADeviceLacks() {
        const auto line = [](const Formats& formats, Rounding rounding) -> std::string {
            try {
                require_format(formats, rounding, "Old card (compute capability 7.5)");
            } catch (const InputError& error) {
                return error.what();
            }
            return "";
        };
        for (const Rounding rounding : {Rounding::None, Rounding::Fp16, Rounding::Bf16, Rounding::Tf32}) {
            QCOMPARE(line(card_formats(8), rounding), "");
            QCOMPARE(line(kEmulatedFormats, rounding), "");
        }
        QCOMPARE(line(card_formats(7), Rounding::None), "");
        QCOMPARE(line(card_formats(7), Rounding::Fp16), "");
        QCOMPARE(
            line(card_formats(7), Rounding::Bf16),
            "precision: bf16 is not available on Old card (compute capability 7.5), allowed: fp32, fp64, "
            "fp16");
        QVERIFY(line(card_formats(7), Rounding::Tf32).starts_with("precision: tf32 is not available"));
    }
};

NORMSCOPE_TEST(FormatsTest)
#include "formats_test.moc"
