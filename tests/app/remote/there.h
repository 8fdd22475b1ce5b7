// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <QString>
#include <QTemporaryDir>
#include <QTest>
#include <stdexcept>
#include <string>
#include <vector>

namespace normscope::test {

/// "Another machine": this one, with a home of its own, whose connections can be cut. It is reached through a
/// substitute for ssh that runs the command in a shell; through the real one where $NORMSCOPE_TEST_SSH is set
/// (its command line; $NORMSCOPE_TEST_DATA: XDG_DATA_HOME there), as by tests/engines/remote.
class There {
  public:
    There() {
        const QString ssh = folder_.filePath("ssh");
        QFile script(ssh);
        if (!script.open(QIODevice::WriteOnly)) throw std::runtime_error("no substitute for ssh");
        script.write(
            "#!/bin/sh\nif [ -e \"" + cut_.toUtf8() +
            "\" ]; then echo 'ssh: connect to host there: Connection timed out' >&2; exit 255; fi\n");
        if (isReal())
            script.write("exec " + qgetenv("NORMSCOPE_TEST_SSH") + " \"$@\"\n");
        else
            script.write(
                "while [ \"$1\" != -- ]; do shift; done\n"
                "if [ \"$2\" = changed ]; then echo 'Host key verification failed.' >&2; exit 255; fi\n"
                "export XDG_DATA_HOME=\"" +
                data().toUtf8() + "\"\nexec sh -c \"$3\"\n");
        script.close();
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("NORMSCOPE_SSH", ssh.toUtf8());
        if (isReal()) QDir(data()).removeRecursively();
    }
    ~There() {
        cut();
        kill();
    }
    There(const There&) = delete;
    There& operator=(const There&) = delete;

    static bool isReal() { return qEnvironmentVariableIsSet("NORMSCOPE_TEST_SSH"); }
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
    QString recordings() const { return data() + "/Normscope/Normscope/recordings"; }

    /// Nothing can be recorded there.
    void spoilRecordings() const {
        QDir().mkpath(data());
        QFile file(data() + "/Normscope");
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("no file");
    }
    /// Ends the connection; none can be made until restore().
    void cut() const {
        QFile file(cut_);
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("the connection cannot be cut");
        for (const pid_t process : connections()) ::kill(process, SIGKILL);
    }
    void restore() const { QFile::remove(cut_); }
    /// The bytes stop, and nothing else is noticed.
    void freeze() const {
        for (const pid_t process : connections()) ::kill(process, SIGSTOP);
    }
    /// The engine, as a machine that is switched off.
    static void kill() {
        for (const pid_t process : engines()) ::kill(process, SIGKILL);
        (void)QTest::qWaitFor([] { return engines().empty(); }, 5000);
    }
    /// Whether a connection or an engine has this file open.
    static bool hasOpen(const QString& path) {
        std::vector<pid_t> all = connections();
        for (const pid_t engine : engines()) all.push_back(engine);
        for (const pid_t process : all) {
            const QDir open("/proc/" + QString::number(process) + "/fd");
            for (const QFileInfo& descriptor : open.entryInfoList(QDir::System | QDir::Files))
                if (descriptor.symLinkTarget() == path) return true;
        }
        return false;
    }
    /// The engines of the sessions that connections of this process had, when this was called.
    static std::vector<pid_t> engines() {
        connections();
        std::vector<pid_t> found;
        for (const Process& process : processes())
            if (process.line.contains("--listen") && sessions().contains(sessionOf(process.line)))
                found.push_back(process.id);
        return found;
    }

    /// The sockets of these engines that there are.
    static QStringList sockets() {
        connections();
        QStringList found;
        for (const QByteArray& session : sessions()) {
            const QString path =
                QStringLiteral("/tmp/normscope-%1/").arg(getuid()) + QString::fromLatin1(session);
            if (QFileInfo::exists(path)) found << path;
        }
        return found;
    }

  private:
    struct Process {
        pid_t id = 0;
        QByteArray line;  ///< of its command, words separated by spaces
    };
    static std::vector<Process> processes() {
        std::vector<Process> found;
        for (const QString& name : QDir("/proc").entryList(QDir::Dirs)) {
            const pid_t id = name.toInt();
            QFile file("/proc/" + name + "/cmdline");
            if (id > 0 && file.open(QIODevice::ReadOnly))
                found.push_back({id, file.readAll().replace('\0', ' ')});
        }
        return found;
    }
    static QByteArray sessionOf(const QByteArray& line) {
        const QByteArray option = "--session ";
        const qsizetype at = line.indexOf(option);
        return at < 0 ? QByteArray() : line.mid(at + option.size()).split(' ').front();
    }
    static QSet<QByteArray>& sessions() {
        static QSet<QByteArray> seen;
        return seen;
    }
    /// This process's children that carry a connection: ssh, or the relay that the substitute has become.
    static std::vector<pid_t> connections() {
        std::vector<pid_t> found;
        for (const Process& process : processes()) {
            QFile stat("/proc/" + QString::number(process.id) + "/stat");
            if (!process.line.contains("--stdio") || !stat.open(QIODevice::ReadOnly)) continue;
            const QByteArray rest = stat.readAll();
            if (rest.mid(rest.lastIndexOf(')') + 4).split(' ').front().toInt() != getpid()) continue;
            found.push_back(process.id);
            sessions().insert(sessionOf(process.line));
        }
        return found;
    }
    QString data() const {
        return isReal() ? qEnvironmentVariable("NORMSCOPE_TEST_DATA") : folder_.filePath("data");
    }

    QTemporaryDir folder_;
    const QString cut_ = folder_.filePath("cut");
};

}  // namespace normscope::test
