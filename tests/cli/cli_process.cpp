// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/cli_process.h"

#include <QFile>

namespace {
constexpr int kPatience = 280'000;  // ms; a machine may be busy

void set_variable(const QByteArray& name, const QByteArray& value) {
    if (value.isNull())
        qunsetenv(name.constData());
    else
        qputenv(name.constData(), value);
}
}  // namespace

WithEnvironment::WithEnvironment(const QMap<QByteArray, QByteArray>& variables) {
    for (auto at = variables.begin(); at != variables.end(); ++at) {
        before_[at.key()] = qgetenv(at.key().constData());
        set_variable(at.key(), at.value());
    }
}

WithEnvironment::~WithEnvironment() {
    for (auto at = before_.begin(); at != before_.end(); ++at) set_variable(at.key(), at.value());
}

CliResult run_cli(const QStringList& arguments, const std::function<void()>& in_child) {
    QProcess process;
    if (in_child) process.setChildProcessModifier(in_child);
    process.start(NORMSCOPE_CLI, arguments);
    CliResult result;
    if (!process.waitForFinished(kPatience)) {
        process.kill();
        process.waitForFinished();
        result.error = "did not end: " + process.errorString();
        return result;
    }
    result.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    result.out = QString::fromUtf8(process.readAllStandardOutput());
    result.error = QString::fromUtf8(process.readAllStandardError());
    return result;
}

std::unique_ptr<QProcess> start_cli(const QStringList& arguments) {
    auto process = std::make_unique<QProcess>();
    process->setStandardOutputFile(QProcess::nullDevice());
    process->setStandardErrorFile(QProcess::nullDevice());
    process->start(NORMSCOPE_CLI, arguments);
    return process;
}

QString csv_of(const QString& folder) {
    QFile file(folder + "/results.csv");
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString("none");
}

QStringList small_stack() {
    return {"--set", "stack.depth=2",    "--set", "stack.d_model=16", "--set",     "stack.heads=2",
            "--set", "stack.context=16", "--set", "batch=2",          "--threads", "1"};
}
