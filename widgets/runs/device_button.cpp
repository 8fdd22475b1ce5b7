// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/device_button.h"

#include <QActionGroup>
#include <QFontMetrics>
#include <QMenu>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kDeviceButtonMaxWidth =
    460;  // of a menu's text: a reason may name a long path, whole in its tooltip
constexpr int kDeviceWordMaxWidth = 150;  // of the button's: another machine may have a long name

constexpr QLatin1String kMachineScheme("ssh://");

bool isElsewhere(const QString& backend) {
    return backend.startsWith(kMachineScheme);
}

/// Of another machine ("ssh://user@host:22/path cuda") its name and the word: "host cuda".
QString wordOf(const QString& backend) {
    if (!isElsewhere(backend)) return backend;
    const QString place = backend.mid(kMachineScheme.size()).section(u' ', 0, 0),
                  word = backend.section(u' ', 1);
    const QString host = place.section(u'/', 0, 0).section(u'@', -1).section(u':', 0, 0);
    return word.isEmpty() ? host : host + u' ' + word;
}

/// "cuda:1   NVIDIA H100 · 77 of 79 GiB free", or why it cannot be chosen.
QString rowOf(const DeviceEntry& device) {
    const QString word = wordOf(device.backend);
    if (!device.waits.isEmpty()) return word + QStringLiteral("   ") + device.waits;
    if (device.missing.isEmpty()) return word + QStringLiteral("   ") + device.name;
    if (!isElsewhere(device.backend))
        return device.backend.section(u':', 0, 0).toUpper() + QStringLiteral(": ") + device.missing;
    const bool whole = !device.backend.contains(u' ');  // the machine itself, whose line names it
    return whole ? device.missing : word + QStringLiteral(": ") + device.missing;
}

}  // namespace

DeviceButton::DeviceButton(QWidget* parent) : BarButton(QString(), Look::Flat, parent) {
    setObjectName(QStringLiteral("device"));
    setFixedHeight(24);
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("deviceMenu"));
    menu->setToolTipsVisible(true);
    setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, &DeviceButton::menuOpens);
    setChosen(QStringLiteral("cpu"));
    setDevices({});
}

void DeviceButton::setDevices(const std::vector<DeviceEntry>& devices) {
    if (devices == devices_ && !devices.empty()) return;
    // Only texts changed: the menu may be open.
    const bool same = devices.size() == devices_.size() &&
                      std::equal(devices.begin(), devices.end(), devices_.begin(),
                                 [](const auto& a, const auto& b) { return a.backend == b.backend; });
    devices_ = devices;
    if (!same) {
        delete menu()->findChild<QActionGroup*>();
        menu()->clear();
        auto* group = new QActionGroup(menu());
        for (const DeviceEntry& device : devices_) {
            QAction* action = menu()->addAction(QString());
            action->setCheckable(true);
            group->addAction(action);
            connect(action, &QAction::triggered, this, [this, backend = device.backend] {
                showChosen();  // until the choice is confirmed by setChosen()
                Q_EMIT deviceChosen(backend);
            });
        }
        menu()->addSeparator();
        connect(menu()->addAction(tr("Another machine over ssh …")), &QAction::triggered, this,
                &DeviceButton::anotherMachineWanted);
    }
    const QFontMetrics metrics(menu()->font());
    int width = widthFor(QStringLiteral("cuda:1"));
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        const DeviceEntry& device = devices_[i];
        QAction* action = menu()->actions()[static_cast<qsizetype>(i)];
        const QString text = rowOf(device);
        action->setText(metrics.elidedText(text, Qt::ElideMiddle, kDeviceButtonMaxWidth)
                            .replace(u'&', QStringLiteral("&&")));
        QStringList lines{text};
        for (const QString& more : {device.note, isElsewhere(device.backend) ? device.backend : QString()})
            if (!more.isEmpty()) lines << more;
        action->setToolTip(lines.join(u'\n'));
        action->setEnabled(device.missing.isEmpty());
        if (device.missing.isEmpty()) width = std::max(width, widthFor(shortened(device)));
    }
    setFixedWidth(width);
    showChosen();
}

QString DeviceButton::shortened(const DeviceEntry& device) const {
    const QString word = device.waits.isEmpty()
                             ? wordOf(device.backend)
                             : wordOf(device.backend).section(u' ', 0, 0) + u' ' + device.waits;
    return QFontMetrics(font()).elidedText(word, Qt::ElideMiddle, kDeviceWordMaxWidth);
}

void DeviceButton::setChosen(const QString& backend) {
    chosen_ = backend;
    showChosen();
}

void DeviceButton::setTraining(bool training) {
    training_ = training;
    showChosen();
}

void DeviceButton::showChosen() {
    const auto chosen = std::find_if(devices_.begin(), devices_.end(),
                                     [this](const DeviceEntry& device) { return device.backend == chosen_; });
    setLabel(shortened(chosen == devices_.end() ? DeviceEntry{chosen_, {}, {}, {}, {}} : *chosen));
    setAccessibleName(tr("Device of the next training"));
    setAccessibleDescription(chosen_);
    setToolTip(training_
                   ? tr("Device %1: applies at the next start or resumption, a run in training keeps its own")
                         .arg(chosen_)
                   : tr("The next training runs on %1").arg(chosen_));
    for (std::size_t i = 0; i < devices_.size(); ++i)
        menu()->actions()[static_cast<qsizetype>(i)]->setChecked(devices_[i].backend == chosen_);
}

}  // namespace normscope::widgets
