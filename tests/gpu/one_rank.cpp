// SPDX-License-Identifier: GPL-3.0-or-later
// one_rank: a rank alone with its card, by NCCL: connecting, each exchange with its values, closing, and what
// an exchange takes; one JSON object a line. Exit status 1 and one line where a value is not what was sent.
#include "core/backend/cuda/launch/check.h"
#include "core/backend/nccl/nccl_communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace normscope;
using cuda::check;

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The only process.
class Alone final : public HostCommunicator {
  public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    int local_rank() const override { return 0; }
    int local_size() const override { return 1; }
    void all_gather(void*, const std::vector<std::size_t>&) override {}
    void all_to_all(const std::vector<std::vector<Block>>& to,
                    const std::vector<std::vector<Block>>& from) override {
        for (std::size_t i = 0; i < to[0].size(); ++i)
            std::memcpy(from[0][i].data, to[0][i].data, to[0][i].bytes);
    }
    void wait_for(const std::function<bool()>& done, std::size_t) override {
        const auto begin = Clock::now();
        while (!done())
            if (ms_since(begin) > 20'000) throw LostRank("no end after 20 s");
    }
    [[noreturn]] void abort(int code) noexcept override { std::_Exit(code); }
};

class CardMemory {
  public:
    explicit CardMemory(const std::vector<float>& values) : count_(values.size()) {
        check(cudaMalloc(&data_, bytes()), "allocating");
        check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "copying");
    }
    CardMemory(const CardMemory&) = delete;
    CardMemory& operator=(const CardMemory&) = delete;
    ~CardMemory() { cudaFree(data_); }
    void* data() const { return data_; }
    std::size_t bytes() const { return count_ * sizeof(float); }
    void require(const std::vector<float>& expected, const char* what) const {
        std::vector<float> here(count_);
        check(cudaMemcpy(here.data(), data_, bytes(), cudaMemcpyDeviceToHost), "copying");
        if (here != expected) throw std::runtime_error(std::string(what) + ": other values than were sent");
    }

  private:
    void* data_ = nullptr;
    std::size_t count_;
};

void show(const char* what, double ms, double bytes) {
    std::printf("{\"operation\": \"%s\", \"ms\": %.5f, \"gb_per_s\": ", what, ms);
    if (bytes > 0)
        std::printf("\"%.0f\"", bytes / ms / 1e6);
    else
        std::printf("null");
    std::printf(", \"tflop_per_s\": null}\n");
}

template <class Call>
double median_ms(const Call& call) {
    std::vector<double> all;
    for (int i = 0; i < 21; ++i) {
        const auto begin = Clock::now();
        call();
        all.push_back(ms_since(begin));
    }
    std::nth_element(all.begin(), all.begin() + 10, all.end());
    return all[10];
}

void run() {
    Alone host;
    auto begin = Clock::now();
    cuda::NcclCommunicator ranks(host, 0);
    ranks.connect();
    show("connect", ms_since(begin), 0);
    for (const std::size_t count : {std::size_t{3}, std::size_t{1} << 24}) {
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), 1.f);
        const CardMemory from(values), to{std::vector<float>(count)};
        const bool small = count == 3;
        const double bytes = small ? 0 : static_cast<double>(from.bytes());
        const auto send = [&] {
            ranks.all_to_all({{{from.data(), from.bytes()}}}, {{{to.data(), to.bytes()}}});
        };
        const auto gather = [&] { ranks.all_gather(from.data(), {from.bytes()}); };
        send();
        to.require(values, "all_to_all");
        gather();
        from.require(values, "all_gather");
        show(small ? "all_to_all of 12 bytes with itself" : "all_to_all of 64 MiB with itself",
             median_ms(send), bytes);
        show(small ? "all_gather of 12 bytes of itself" : "all_gather of 64 MiB of itself", median_ms(gather),
             bytes);
    }
    begin = Clock::now();
    ranks.close();
    show("close", ms_since(begin), 0);
}

}  // namespace

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
