// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/kernel.h"
#include "core/backend/cuda/launch/queue.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace normscope::cuda {

/// Device memory for the tables of calls that replicas share.
class Tables {
  public:
    virtual ~Tables() = default;
    /// A copy of these bytes on the device. SystemError when out of memory.
    virtual const void* add(const void* values, std::size_t bytes) = 0;
};

/// A call of a device as a value: what a captured step consists of. It may be run often; addresses and sizes
/// are those of when it was made.
class Call {
  public:
    virtual ~Call() = default;
    virtual void run(const Queue& queue) const = 0;
    /// Equal for calls that differ in addresses and in what kernels are passed by value alone.
    virtual std::string signature() const = 0;
    /// One call that does what these do, the first of which is this one, all of one signature; null: there is
    /// none.
    virtual std::unique_ptr<Call> together(const std::vector<const Call*>& all, Tables& tables) const = 0;
};
using Calls = std::vector<std::unique_ptr<Call>>;
inline std::vector<const Call*> pointers_to(const Calls& calls) {
    std::vector<const Call*> all;
    for (const auto& call : calls) all.push_back(call.get());
    return all;
}

/// run(queue) as a call that replicas make one by one. what: equal for calls of one signature.
template <class Run>
struct SimpleCall final : Call {
    std::string what;
    Run body;

    SimpleCall(std::string name, Run made) : what(std::move(name)), body(std::move(made)) {}
    void run(const Queue& queue) const override { body(queue); }
    std::string signature() const override { return what; }
    std::unique_ptr<Call> together(const std::vector<const Call*>&, Tables&) const override {
        return nullptr;
    }
};

/// Into the graph that is captured, or now.
template <class C>
void submit(const Queue& queue, C call) {
    if (queue.captured)
        queue.captured->push_back(std::make_unique<C>(std::move(call)));
    else
        call.run(queue);
}

/// A kernel with its parameters; of replicas, with a table of theirs on the device.
class LaunchCall final : public Call {
  public:
    template <class... P>
    LaunchCall(const char* name, Kernel<P...> kernel, grid::Shape shape, const Parameters<P...>& parameters)
        : name_(name),
          shape_(shape),
          one_(reinterpret_cast<Address>(kernel.one)),
          replicas_(reinterpret_cast<Address>(kernel.replicas)),
          run_one_(run_one<P...>),
          run_replicas_(run_replicas<P...>),
          parameters_(sizeof parameters) {
        static_assert(std::is_trivially_copyable_v<Parameters<P...>>);
        std::memcpy(parameters_.data(), &parameters, sizeof parameters);
    }
    void run(const Queue& queue) const override {
        if (table_)
            run_replicas_(queue, *this, table_);
        else
            run_one_(queue, *this, parameters_.data());
    }
    std::string signature() const override {
        std::string all = name_;
        for (const std::size_t number :
             {reinterpret_cast<std::size_t>(one_), std::size_t{shape_.grid.x}, std::size_t{shape_.grid.y},
              std::size_t{shape_.block.x}, std::size_t{shape_.block.y}, shape_.dynamic_shared})
            all += ' ' + std::to_string(number);
        return all;
    }
    std::unique_ptr<Call> together(const std::vector<const Call*>& all, Tables& tables) const override {
        std::vector<std::byte> table;
        for (const Call* call : all) {
            const auto& own = static_cast<const LaunchCall*>(call)->parameters_;
            table.insert(table.end(), own.begin(), own.end());
        }
        auto joined = std::make_unique<LaunchCall>(*this);
        joined->shape_.grid.z = static_cast<unsigned>(all.size());
        joined->table_ = tables.add(table.data(), table.size());
        return joined;
    }

  private:
    using Address = void (*)();
    using Run = void (*)(const Queue& queue, const LaunchCall& call, const void* parameters);

    template <class... P>
    static void run_one(const Queue& queue, const LaunchCall& call, const void* parameters) {
        run_one_of(queue, call, *static_cast<const Parameters<P...>*>(parameters));
    }
    template <std::size_t... I, class... P>
    static void run_one_of(const Queue& queue, const LaunchCall& call,
                           const ParametersOf<std::index_sequence<I...>, P...>& parameters) {
        launch_now(queue, call.name_, reinterpret_cast<void (*)(P...)>(call.one_), call.shape_,
                   static_cast<const Parameter<I, P>&>(parameters).value...);
    }
    template <class... P>
    static void run_replicas(const Queue& queue, const LaunchCall& call, const void* table) {
        const auto* parameters = static_cast<const Parameters<P...>*>(table);
        launch_now(queue, call.name_, reinterpret_cast<void (*)(const Parameters<P...>*)>(call.replicas_),
                   call.shape_, parameters);
    }

    const char* name_;
    grid::Shape shape_;
    Address one_, replicas_;
    Run run_one_, run_replicas_;
    std::vector<std::byte> parameters_;  ///< as aligned as any, as all that new allocates
    const void* table_ = nullptr;
};

}  // namespace normscope::cuda
