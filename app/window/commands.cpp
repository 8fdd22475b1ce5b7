// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/commands.h"

#include "core/base/assert.h"
#include "widgets/common/settings.h"

#include <QAction>
#include <QFileInfo>
#include <QMenu>
#include <QUndoStack>
#include <optional>
#include <utility>

namespace normscope::app {

namespace {

/// A part of the window's menu: the groups from the first to the last.
struct MenuPart {
    const char* title;
    CommandGroup first, last;
};
constexpr MenuPart kParts[] = {
    {QT_TRANSLATE_NOOP("Commands", "File"), CommandGroup::Sessions, CommandGroup::Restart},
    {QT_TRANSLATE_NOOP("Commands", "Edit"), CommandGroup::Undoing, CommandGroup::Linking},
    {QT_TRANSLATE_NOOP("Commands", "Runs"), CommandGroup::Comparison, CommandGroup::Measuring},
    {QT_TRANSLATE_NOOP("Commands", "View"), CommandGroup::Layout, CommandGroup::Steps},
    {QT_TRANSLATE_NOOP("Commands", "Help"), CommandGroup::Help, CommandGroup::Help}};

}  // namespace

Commands::Commands(const std::vector<CommandRow>& table, QUndoStack& undo, QWidget& window)
    : QObject(&window), window_(window) {
    for (const CommandRow& row : table) {
        QAction*& action = actions_[static_cast<std::size_t>(row.command)];
        NORMSCOPE_ASSERT(!action, "the table has one row for each command");
        if (row.command == Command::Undo)
            action = undo.createUndoAction(this, row.text);
        else if (row.command == Command::Redo)
            action = undo.createRedoAction(this, row.text);
        else
            action = new QAction(row.text, this);
        action->setShortcuts(row.keys);
        if (row.run) connect(action, &QAction::triggered, this, [run = row.run] { run(); });
        groups_[static_cast<std::size_t>(row.command)] = row.group;
        order_.push_back(row.command);
        window_.addAction(action);
    }
    NORMSCOPE_ASSERT(order_.size() == kCount, "the table has a row for every command");
    updateRecentFiles();
}

void Commands::addTo(QMenu& menu, std::initializer_list<Command> commands) const {
    for (const Command command : commands) menu.addAction((*this)[command]);
}

void Commands::fill(QMenu& menu) {
    for (const MenuPart& part : kParts) {
        QMenu* sub = menu.addMenu(tr(part.title));
        std::optional<CommandGroup> before;
        for (const Command command : order_) {
            const CommandGroup of = group(command);
            if (of < part.first || of > part.last) continue;
            if (before && of != *before) sub->addSeparator();
            before = of;
            sub->addAction((*this)[command]);
        }
    }
    menu.addSeparator();
    menu.addAction((*this)[Command::Quit]);
    // The recent files, which change, are before the last group of the menu of files.
    QMenu* files = menu.actions().constFirst()->menu();
    connect(files, &QMenu::aboutToShow, this, [this, files] {
        for (QAction* action : recent_)
            if (!files->actions().contains(action)) files->insertAction((*this)[Command::Restoring], action);
    });
}

void Commands::updateRecentFiles() {
    qDeleteAll(std::exchange(recent_, {}));
    const QStringList recent = widgets::Settings().recentFiles();
    for (qsizetype i = 0; i < recent.size(); ++i) {
        auto* action = new QAction(tr("Open %1").arg(QFileInfo(recent[i]).fileName()), this);
        action->setToolTip(recent[i]);
        action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
        connect(action, &QAction::triggered, this,
                [this, path = recent[i]] { Q_EMIT recentFileChosen(path); });
        recent_ << action;
        window_.addAction(action);
    }
}

}  // namespace normscope::app
