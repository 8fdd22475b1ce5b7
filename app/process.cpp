// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/process.h"

#include "core/backend/cpu/host/process_memory.h"
#include "core/session/process/guard.h"
#include "widgets/common/window_style.h"
#include "widgets/plots/theme.h"

#include <sys/stat.h>
#include <unistd.h>

#include <QApplication>
#include <QDir>
#include <QHashFunctions>
#include <clocale>
#include <cstdlib>
#include <filesystem>

namespace normscope::app {

namespace {

/// Qt falls back to the same folder, with a warning, where XDG_RUNTIME_DIR is not set (a container, a build
/// server).
void ensureRuntimeFolder() {
    if (!qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR")) return;
    const QByteArray folder =
        QDir::temp().filePath(QStringLiteral("runtime-normscope-%1").arg(getuid())).toLocal8Bit();
    mkdir(folder.constData(), 0700);  // Qt warns if this fails
    qputenv("XDG_RUNTIME_DIR", folder);
}

/// An archive of packaging/bundle contains fonts; an installed program does not.
void useFontsOfTheArchive() {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    const auto fonts = program.parent_path().parent_path() / "share/normscope/fonts.conf";
    if (std::filesystem::exists(fonts, none)) setenv("FONTCONFIG_FILE", fonts.c_str(), 0);
}

}  // namespace

bool hasDisplay() {
    const auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return value && *value;
    };
    return set("DISPLAY") || set("WAYLAND_DISPLAY") || set("QT_QPA_PLATFORM");
}

void prepareProcess() {
    retain_freed_memory();
    QHashSeed::setDeterministicGlobalSeed();  // a PDF's objects are in the order of a hash table
    ensureRuntimeFolder();
    useFontsOfTheArchive();
    guard_foreign_files(installed_walker());
}

void setUp(QApplication& app) {
    QFont font = app.font();
    font.setFamily(widgets::typeFace(font.family()));
    app.setFont(font);
    std::setlocale(LC_NUMERIC,
                   "C");  // numbers in files and figures have a point, whatever the desktop's language
    app.setOrganizationName(QStringLiteral("Normscope"));
    app.setApplicationName(QStringLiteral("Normscope"));
    app.setStyle(new widgets::WindowStyle);
}

}  // namespace normscope::app
