// SPDX-License-Identifier: GPL-3.0-or-later
// Annotates for ThreadSanitizer how Qt passes an event from one thread to another. Debian's Qt is not
// instrumented and its QMutex is a futex of its own, so the queue of posted events looks unsynchronised, and
// everything passed through it like a race. Linked into the tests of the tsan preset alone.
//
// On posting, Qt first allocates the event, then copies a queued signal's arguments, then wakes the
// receiver's event loop: each operator new called by libQt6Core releases, and so does waking a loop. On
// receiving, Qt first calls its callbacks: each delivery acquires. Other shared data is checked as usual: a
// thread that is busy with one event acquires nothing. (An event that is received between its copies and the
// wake-up is what tsan.supp names: its writer's stack is then still known.)
#include <QtCore/qnamespace.h>
#include <dlfcn.h>
#include <link.h>
#include <sanitizer/tsan_interface.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

namespace {

char handover;
std::uintptr_t qt_first = 0, qt_end = 0;  ///< where libQt6Core lies; set before there is a second thread

int find_qt(dl_phdr_info* library, std::size_t, void*) {
    if (std::string_view(library->dlpi_name).find("libQt6Core.so") == std::string_view::npos) return 0;
    qt_first = library->dlpi_addr;
    for (int i = 0; i < library->dlpi_phnum; ++i)
        qt_end = std::max<std::uintptr_t>(
            qt_end, qt_first + library->dlpi_phdr[i].p_vaddr + library->dlpi_phdr[i].p_memsz);
    return 1;
}

bool acquire(void**) {
    __tsan_acquire(&handover);
    return false;  // the event is not filtered
}

[[maybe_unused]] const bool installed = [] {
    dl_iterate_phdr(find_qt, nullptr);
    if (qt_first == 0 || !QInternal::registerCallback(QInternal::EventNotifyCallback, acquire)) std::abort();
    return true;
}();

}  // namespace

void* operator new(std::size_t size) {
    const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    void* const memory = std::malloc(size);
    if (!memory) throw std::bad_alloc();
    if (caller >= qt_first && caller < qt_end) __tsan_release(&handover);
    return memory;
}

extern "C" void g_main_context_wakeup(struct _GMainContext* context) {
    using Wakeup = void (*)(struct _GMainContext*);
    static const auto wakeup = reinterpret_cast<Wakeup>(dlsym(RTLD_NEXT, "g_main_context_wakeup"));
    __tsan_release(&handover);
    wakeup(context);
}
