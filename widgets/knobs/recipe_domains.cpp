// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/recipe.h"
#include "widgets/knobs/recipe_keys.h"

namespace normscope::widgets {
namespace {

using Kind = KeyDomain::Kind;

constexpr double kExactWhole = 9007199254740992.0;  // 2^53: beyond it a double skips whole numbers

/// Writes down what each key may hold, changing nothing.
class DomainLister final : public Fields {
  public:
    QHash<QString, KeyDomain> domains;

    void integer(const char* key, int&, int low, int high) override {
        add(key, number(Kind::Integer, low, high));
    }
    void integer_or_auto(const char* key, int&, int low, int high) override {
        add(key, number(Kind::Integer, low, high));
    }
    void whole(const char* key, std::uint64_t&) override { add(key, number(Kind::Integer, 0, kExactWhole)); }
    void real(const char* key, double&, RealRange range) override {
        KeyDomain domain = number(Kind::Real, range.low, range.high);
        domain.low_open = range.low_open;
        add(key, domain);
    }
    void flag(const char* key, bool&) override { add(key, number(Kind::Flag, 0, 1)); }
    void text(const char* key, std::string&) override { add(key, number(Kind::Text, 0, 0)); }
    void word(const char* key, int&, std::span<const char* const> allowed) override {
        KeyDomain domain = number(Kind::Word, 0, 0);
        for (const char* word : allowed) domain.words << QString::fromUtf8(word);
        add(key, domain);
    }
    void group(const char* key, const std::function<void()>& inside) override {
        const QString outer = path_;
        path_ += QString::fromUtf8(key) + u'.';
        inside();
        path_ = outer;
    }
    // Lists and what stands only in them are no knobs.
    void reals(const char*, std::span<double>, RealRange) override {}
    void optional_flag(const char*, std::optional<bool>&) override {}
    void optional_real(const char*, std::optional<double>&, RealRange) override {}
    void list(const char*, std::size_t, const std::function<void(std::size_t)>&,
              const std::function<void(std::size_t)>&) override {}

  private:
    static KeyDomain number(Kind kind, double low, double high) { return {kind, low, high, false, {}}; }
    void add(const char* key, const KeyDomain& domain) {
        domains.insert(path_ + QString::fromUtf8(key), domain);
    }

    QString path_;
};

}  // namespace

const QHash<QString, KeyDomain>& recipeDomains() {
    static const QHash<QString, KeyDomain> domains = [] {
        Recipe recipe;
        DomainLister lister;
        list_fields(lister, recipe);
        return lister.domains;
    }();
    return domains;
}

}  // namespace normscope::widgets
