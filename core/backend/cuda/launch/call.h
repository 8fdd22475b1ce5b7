// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/kernel.h"
#include "core/backend/cuda/launch/queue.h"

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
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

/// A kernel of replicas: their parameters are a table on the device.
template <class... P>
struct ReplicasLaunch final : Call {
    const char* name;
    Kernel<P...> kernel;
    grid::Shape shape;
    const std::tuple<P...>* parameters;

    ReplicasLaunch(const char* of, Kernel<P...> launched, grid::Shape with, const std::tuple<P...>* table)
        : name(of), kernel(launched), shape(with), parameters(table) {}
    void run(const Queue& queue) const override {
        launch_now(queue, name, kernel.replicas, shape, parameters);
    }
    std::string signature() const override { return name; }
    std::unique_ptr<Call> together(const std::vector<const Call*>&, Tables&) const override {
        return nullptr;
    }
};

/// A kernel with its parameters.
template <class... P>
struct Launch final : Call {
    const char* name;
    Kernel<P...> kernel;
    grid::Shape shape;
    std::tuple<P...> parameters;

    Launch(const char* of, Kernel<P...> launched, grid::Shape with, P... values)
        : name(of), kernel(launched), shape(with), parameters(std::move(values)...) {}
    void run(const Queue& queue) const override {
        std::apply([&](const P&... values) { launch_now(queue, name, kernel.one, shape, values...); },
                   parameters);
    }
    std::string signature() const override {
        std::string all = typeid(*this).name();
        for (const std::size_t number :
             {std::size_t{shape.grid.x}, std::size_t{shape.grid.y}, std::size_t{shape.block.x},
              std::size_t{shape.block.y}, shape.dynamic_shared, reinterpret_cast<std::size_t>(kernel.one)})
            all += ' ' + std::to_string(number);
        return all;
    }
    std::unique_ptr<Call> together(const std::vector<const Call*>& all, Tables& tables) const override {
        std::vector<std::tuple<P...>> table;
        for (const Call* call : all) table.push_back(static_cast<const Launch*>(call)->parameters);
        grid::Shape of_all = shape;
        of_all.grid.z = static_cast<unsigned>(all.size());
        return std::make_unique<ReplicasLaunch<P...>>(
            name, kernel, of_all,
            static_cast<const std::tuple<P...>*>(tables.add(table.data(), table.size() * sizeof table[0])));
    }
};

}  // namespace normscope::cuda
