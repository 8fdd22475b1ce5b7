// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QString>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace normscope::test {

/// "Another machine": this one, reached through a stand-in for ssh that runs the command in a shell; it has a
/// home of its own, and its connections can be cut. tests/engines/remote has the real ssh.
class There {
  public:
    There() {
        const QString ssh = folder_.filePath("ssh");
        QFile script(ssh);
        if (!script.open(QIODevice::WriteOnly)) throw std::runtime_error("no stand-in for ssh");
        script.write(
            "#!/bin/sh\n"
            "while [ \"$1\" != -- ]; do shift; done\n"
            "if [ -e \"" +
            cut_.toUtf8() +
            "\" ]; then echo 'ssh: connect to host there: Connection refused' >&2; exit 255; fi\n"
            "export XDG_DATA_HOME=\"" +
            folder_.filePath("data").toUtf8() +
            "\"\n"
            "exec sh -c \"$3\"\n");
        script.close();
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("NORMSCOPE_SSH", ssh.toUtf8());
    }
    ~There() {
        cut();
        kill();
    }

    /// The device's word, of the command line that was built, or another program.
    static std::string device(const QString& program = QStringLiteral(NORMSCOPE_CLI)) {
        return "ssh://there" + program.toStdString();
    }
    /// A program there that is this script.
    QString program(const QByteArray& script) const {
        const QString path = folder_.filePath("program");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("no program");
        file.write("#!/bin/sh\n" + script);
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }
    QString recordings() const { return folder_.filePath("data/Normscope/Normscope/recordings"); }

    /// Ends the connection; none can be made until mend().
    void cut() const {
        QFile file(cut_);
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("the connection cannot be cut");
        for (const pid_t process : relays()) ::kill(process, SIGKILL);
    }
    void mend() const { QFile::remove(cut_); }
    /// The bytes stop, and nothing else is noticed.
    void freeze() const {
        for (const pid_t process : relays()) ::kill(process, SIGSTOP);
    }
    /// The engine, as a machine that is switched off.
    static void kill() {
        for (const pid_t process : engines()) ::kill(process, SIGKILL);
        (void)QTest::qWaitFor([] { return engines().empty(); }, 5000);
    }
    /// The engines that this process has started.
    static std::vector<pid_t> engines() {
        std::vector<pid_t> found;
        for (const Process& process : processes())
            if (process.arguments.contains(QStringLiteral("--listen")) && environmentIsOurs(process.id))
                found.push_back(process.id);
        return found;
    }

  private:
    struct Process {
        pid_t id = 0;
        QStringList arguments;
    };
    static std::vector<Process> processes() {
        std::vector<Process> found;
        for (const QString& name : QDir("/proc").entryList(QDir::Dirs)) {
            const pid_t id = name.toInt();
            QFile file("/proc/" + name + "/cmdline");
            if (id <= 0 || !file.open(QIODevice::ReadOnly)) continue;
            const QStringList arguments = QString::fromUtf8(file.readAll()).split(QChar(0));
            if (arguments.front().endsWith(QStringLiteral("normscope-engine")))
                found.push_back({id, arguments});
        }
        return found;
    }
    /// It has the stand-in of this process in its environment.
    static bool environmentIsOurs(pid_t id) {
        QFile file("/proc/" + QString::number(id) + "/environ");
        if (!file.open(QIODevice::ReadOnly)) return false;
        return file.readAll().split('\0').contains("NORMSCOPE_SSH=" + qgetenv("NORMSCOPE_SSH"));
    }
    static std::vector<pid_t> relays() {
        std::vector<pid_t> found;
        for (const Process& process : processes())
            if (process.arguments.contains(QStringLiteral("--stdio")) && environmentIsOurs(process.id))
                found.push_back(process.id);
        return found;
    }

    QTemporaryDir folder_;
    const QString cut_ = folder_.filePath("cut");
};

}  // namespace normscope::test
