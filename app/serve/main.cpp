// SPDX-License-Identifier: GPL-3.0-or-later
// normscope-engine: the engine for a window on another machine. `normscope-cli serve` starts it with --stdio,
// as the relay between ssh and the engine of a session; the relay starts it with --listen, as that engine.
#include "app/serve/engine_server.h"
#include "app/serve/relay.h"
#include "core/backend/cpu/host/available_cores.h"
#include "core/backend/cpu/host/default_threads.h"
#include "core/backend/cpu/host/process_memory.h"
#include "core/session/process/guard.h"

#include <CLI/CLI.hpp>

#include <QCoreApplication>
#include <QDir>
#include <QStandardPaths>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

namespace {

using namespace normscope;
using namespace normscope::app;

int serve(int argc, char** argv, int listening, const std::string& session) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    retain_freed_memory();
    guard_foreign_files(installed_walker());
    QCoreApplication app(argc, argv);
    // As the window: its recordings of this machine's user.
    QCoreApplication::setOrganizationName(QStringLiteral("Normscope"));
    QCoreApplication::setApplicationName(QStringLiteral("Normscope"));
    const QString folder = QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation))
                               .filePath(QStringLiteral("recordings"));
    const int threads = available_cores();
    set_default_threads(threads);
    EngineServer server(listening, folder.toStdString(), threads);
    QObject::connect(&server, &EngineServer::ended, &app, &QCoreApplication::quit, Qt::QueuedConnection);
    const int status = QCoreApplication::exec();
    std::error_code none;
    std::filesystem::remove(socket_path(session), none);
    std::filesystem::remove(socket_path(session) + ".log", none);
    return status;
}

int run(int argc, char** argv) {
    CLI::App cli("The engine for a window on another machine; started by normscope-cli serve.",
                 "normscope-engine");
    bool stdio = false, resume = false;
    int listening = -1;
    std::string session;
    cli.add_flag("--stdio", stdio, "Connect standard input and output to the engine of the session");
    cli.add_flag("--resume", resume, "It must be there");
    cli.add_option("--listen", listening, "Be that engine, on this descriptor");
    cli.add_option("--session", session, "Its name")->required()->check([](const std::string& name) {
        const bool sound = !name.empty() && name.size() <= 64 &&
                           name.find_first_not_of("0123456789abcdef") == std::string::npos;
        return sound ? std::string() : "\"" + name + "\" is no session, allowed: up to 64 digits 0-9, a-f";
    });
    try {
        cli.parse(argc, argv);
        if (stdio == (listening >= 0)) throw CLI::ValidationError("one of --stdio and --listen is needed");
    } catch (const CLI::ParseError& error) {
        return cli.exit(error) == 0 ? 0 : 2;
    }
    if (stdio) return relay(std::filesystem::read_symlink("/proc/self/exe").string(), session, resume);
    return serve(argc, argv, listening, session);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "normscope-engine: %s\n", error.what());
        return 1;
    }
}
