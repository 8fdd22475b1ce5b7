// SPDX-License-Identifier: GPL-3.0-or-later
// Annotates for ThreadSanitizer how Qt passes an event from one thread to another. Debian's Qt is not
// instrumented and its QMutex is a futex of its own, so the queue of posted events looks unsynchronised, and
// everything passed through it like a race. Linked into the tests of the tsan preset alone.
//
// On posting, Qt first allocates the event, then copies a queued signal's arguments, then wakes the
// receiver's event loop: each operator new called by libQt6Core releases, and so does waking a loop. On
// receiving, Qt first calls its callbacks: each delivery acquires. Other shared data is checked as usual: a
// thread that is busy with one event acquires nothing. An event may be received between its copies and the
// wake-up: the copies themselves lie in a region of their own, which is not checked and never used again.
#include <QtCore/qcoreapplication.h>
#include <QtCore/qnamespace.h>
#include <dlfcn.h>
#include <link.h>
#include <sanitizer/tsan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

extern "C" void AnnotateBenignRaceSized(const char* file, int line, const volatile void* memory,
                                        unsigned long bytes, const char* what);

namespace {

char handover;
// Where libQt6Core lies, and its QMetaType::create, which copies arguments; set before there is a second
// thread.
std::uintptr_t qt_first = 0, qt_end = 0, copies_first = 0, copies_end = 0;

constexpr std::size_t region_bytes = std::size_t{256} << 20;
char* region = nullptr;
std::atomic<std::size_t> region_used{0};

bool in_region(const void* memory) {
    return region && memory >= region && memory < region + region_bytes;
}

/// Null where the region is full.
void* in_new_region(std::size_t size) {
    constexpr std::size_t alignment = 64;
    const std::size_t bytes = (size + alignment - 1) / alignment * alignment;
    const std::size_t at = region_used.fetch_add(bytes, std::memory_order_relaxed);
    return at + bytes <= region_bytes ? region + at : nullptr;
}

void find_copies() {
    void* const create = dlsym(RTLD_DEFAULT, "_ZNK9QMetaType6createEPKv");
    Dl_info info{};
    ElfW(Sym)* symbol = nullptr;
    if (!create || dladdr1(create, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 || !symbol)
        std::abort();
    copies_first = reinterpret_cast<std::uintptr_t>(create);
    copies_end = copies_first + symbol->st_size;
    void* const memory = mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    region = static_cast<char*>(memory);
    AnnotateBenignRaceSized(__FILE__, __LINE__, region, region_bytes,
                            "copies of a queued signal's arguments");
}

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
    find_copies();
    return true;
}();

}  // namespace

void* operator new(std::size_t size) {
    const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    void* memory = caller >= copies_first && caller < copies_end ? in_new_region(size) : nullptr;
    if (!memory) memory = std::malloc(size);
    if (!memory) throw std::bad_alloc();
    if (caller >= qt_first && caller < qt_end) __tsan_release(&handover);
    return memory;
}

void operator delete(void* memory) noexcept {
    if (!in_region(memory)) std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

/// An event of our own is written before it is posted.
void QCoreApplication::postEvent(QObject* receiver, QEvent* event, int priority) {
    using Post = void (*)(QObject*, QEvent*, int);
    static const auto post =
        reinterpret_cast<Post>(dlsym(RTLD_NEXT, "_ZN16QCoreApplication9postEventEP7QObjectP6QEventi"));
    __tsan_release(&handover);
    post(receiver, event, priority);
}

extern "C" void g_main_context_wakeup(struct _GMainContext* context) {
    using Wakeup = void (*)(struct _GMainContext*);
    static const auto wakeup = reinterpret_cast<Wakeup>(dlsym(RTLD_NEXT, "g_main_context_wakeup"));
    __tsan_release(&handover);
    wakeup(context);
}
