// SPDX-License-Identifier: GPL-3.0-or-later
// Two ends and a line that is cut anywhere: every message arrives once, and in order.
#include "app/lab/remote/channel.h"

#include "app/lab/remote/place.h"
#include "app/lab/remote/welcome.h"
#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <random>

using namespace normscope;
using namespace normscope::app;

namespace {

/// An end, what it got, and the bytes that are on their way to the other.
struct End {
    std::vector<std::string> got;
    std::string sent;
    Channel channel{[this](const std::string& message) { got.push_back(message); }};

    void connect() {
        sent.clear();
        channel.connected([this](const std::string& bytes) { sent += bytes; });
    }
};

void connectBoth(End& a, End& b) {
    a.connect();
    b.connect();
}

/// Some of the bytes arrive; what is left comes later, or never.
void pass(End& from, End& to, std::size_t bytes) {
    const std::string some = from.sent.substr(0, bytes);
    from.sent.erase(0, some.size());
    to.channel.receive(some.data(), some.size());
}

void passAll(End& a, End& b) {
    while (!a.sent.empty() || !b.sent.empty()) {
        pass(a, b, a.sent.size());
        pass(b, a, b.sent.size());
    }
}

QString lineOf(const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

}  // namespace

class ChannelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void messagesWaitForTheConnection() {
        End a, b;
        a.channel.send("first");
        a.channel.send("");
        connectBoth(a, b);
        passAll(a, b);
        QCOMPARE(b.got, (std::vector<std::string>{"first", ""}));
        b.channel.send(std::string(100000, 'x'));
        passAll(a, b);
        QCOMPARE(a.got.size(), 1u);
        QCOMPARE(a.got[0].size(), 100000u);
        QCOMPARE(b.channel.waiting(), 1u);  // until the other end states that it has it
        a.channel.beat();
        passAll(a, b);
        QCOMPARE(a.channel.waiting(), 0u);
        QCOMPARE(b.channel.waiting(), 0u);
    }

    void aLineThatIsCutAnywhereLosesNothing() {
        std::mt19937 random(1);
        const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
        for (int round = 0; round < 300; ++round) {
            End a, b;
            std::vector<std::string> to_a, to_b;
            connectBoth(a, b);
            for (int act = 0; act < 200; ++act) {
                const std::string message = std::to_string(act) + std::string(below(60), '.');
                switch (below(8)) {
                    case 0:
                        a.channel.send(message), to_b.push_back(message);
                        break;
                    case 1:
                        b.channel.send(message), to_a.push_back(message);
                        break;
                    case 2:
                        pass(a, b, below(80));
                        break;
                    case 3:
                        pass(b, a, below(80));
                        break;
                    case 4:
                        a.channel.beat();
                        break;
                    case 5:
                        b.channel.beat();
                        break;
                    case 6:
                        pass(b, a, b.sent.size()), pass(a, b, a.sent.size());
                        break;
                    default:
                        if (below(6) > 0) break;
                        a.channel.disconnected();  // what is on its way is lost, in both directions
                        b.channel.disconnected();
                        if (below(2)) a.channel.send("cut"), to_b.push_back("cut");
                        connectBoth(a, b);
                }
            }
            passAll(a, b);
            a.channel.beat();
            b.channel.beat();
            passAll(a, b);
            QCOMPARE(a.got, to_a);
            QCOMPARE(b.got, to_b);
            QCOMPARE(a.channel.waiting() + b.channel.waiting(), 0u);
        }
    }

    void whatNoChannelSendsIsRejected() {
        for (const std::string& bytes : {std::string(40, 'x'), std::string(40, '\0')}) {
            End a;
            a.connect();
            QCOMPARE(lineOf([&] { a.channel.receive(bytes.data(), bytes.size()); }),
                     QStringLiteral("what arrives is not of an engine of Normscope"));
        }
        End a, b;  // a message that came before is missing
        connectBoth(a, b);
        passAll(a, b);
        a.channel.send("lost");
        a.sent.clear();
        a.channel.send("next");
        QCOMPARE(lineOf([&] { pass(a, b, a.sent.size()); }),
                 QStringLiteral("a message of the engine is missing"));
    }

    void placesAreReadAndWritten() {
        const auto [place, word] = parse_remote("ssh://me@gpu-1.example:2222/opt/normscope-cli cuda:1");
        QCOMPARE(place.user, std::string("me"));
        QCOMPARE(place.host, std::string("gpu-1.example"));
        QCOMPARE(place.port, 2222);
        QCOMPARE(place.program, std::string("/opt/normscope-cli"));
        QCOMPARE(word, std::string("cuda:1"));
        QCOMPARE(place.text(), std::string("ssh://me@gpu-1.example:2222/opt/normscope-cli"));
        for (const char* text : {"ssh://host", "ssh://a@b", "ssh://b:1", "ssh://b/x"})
            QCOMPARE(parse_remote(text).first.text(), std::string(text));
        QCOMPARE(parse_remote("ssh://host/").first.text(), std::string("ssh://host"));
        QCOMPARE(parse_remote("ssh://host").first.program, std::string("normscope-cli"));
        for (const char* text :
             {"host", "ssh://", "ssh:///x", "ssh://-oProxyCommand=x", "ssh://-v", "ssh://h:0", "ssh://h:x",
              "ssh://h:65536", "ssh://@h", "ssh://h;ls", "ssh://$(x)"}) {
            const QString line = lineOf([&] { parse_remote(text); });
            QVERIFY2(line.startsWith(QLatin1String(text)) &&
                         line.endsWith("allowed: ssh://[user@]host[:port][/path/to/normscope-cli]"),
                     qPrintable(line));
        }
    }

    /// The path is one word of the shell there, whatever is in it.
    void thePathIsQuoted() {
        const std::vector<std::string> line = parse_remote("ssh://h/a'b$c").first.command("0f", true);
        QCOMPARE(line.back(), std::string("exec '/a'\\''b$c' serve --stdio --session 0f --resume"));
        QCOMPARE(line[line.size() - 2], std::string("h"));
        QCOMPARE(line[line.size() - 3], std::string("--"));
    }

    void theFirstLineStatesAnEngineOrWhyThereIsNone() {
        QVERIFY(!welcome_of("Welcome to Debian"));
        QVERIFY(!welcome_of(""));
        std::string ready = welcome_line();
        ready.pop_back();
        QVERIFY(welcome_of(ready)->failed.empty());
        QCOMPARE(welcome_of("normscope-engine failed no engine here")->failed, std::string("no engine here"));
        const std::string protocol =
            ready.substr(ready.find("ready ") + 6, ready.rfind(' ') - ready.find("ready ") - 6);
        QVERIFY(!welcome_of("normscope-engine ready " + protocol + " 9.9")->failed.empty());
        QVERIFY(!welcome_of("normscope-engine ready 7 " NORMSCOPE_VERSION)->failed.empty());
        const std::string other = welcome_of("normscope-engine ready 7 9.9")->failed;
        QVERIFY2(other.rfind("there is Normscope 9.9 (protocol 7), here Normscope ", 0) == 0, other.c_str());
    }
};

NORMSCOPE_TEST(ChannelTest)
#include "channel_test.moc"
