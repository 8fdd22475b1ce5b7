// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/keys.h"
#include "widgets/figures/knobs/recipe_keys.h"

namespace normscope::widgets {
namespace {

using Kind = KeyDomain::Kind;

constexpr double kExactWhole = 9007199254740992.0;  // 2^53: above it a double skips integers

/// Collects the domain of each key, changing nothing.
class DomainLister final : public KeyVisitor {
  public:
    QHash<QString, KeyDomain> domains;

  private:
    void visit_integer(const char* key, int&, int low, int high) override {
        add(key, number(Kind::Integer, low, high));
    }
    void visit_integer_or_auto(const char* key, int&, int low, int high) override {
        add(key, number(Kind::Integer, low, high));
    }
    void visit_whole(const char* key, std::uint64_t&) override {
        add(key, number(Kind::Integer, 0, kExactWhole));
    }
    void visit_real(const char* key, double&, RealRange range) override {
        KeyDomain domain = number(Kind::Real, range.low, range.high);
        domain.low_open = range.low_open;
        add(key, domain);
    }
    void visit_flag(const char* key, bool&) override { add(key, number(Kind::Flag, 0, 1)); }
    void visit_text(const char* key, std::string&) override { add(key, number(Kind::Text, 0, 0)); }
    void visit_word(const char* key, int&, std::span<const char* const> allowed) override {
        KeyDomain domain = number(Kind::Word, 0, 0);
        for (const char* word : allowed) domain.words << QString::fromUtf8(word);
        add(key, domain);
    }

    KeyDomain number(Kind kind, double low, double high) const {
        return {kind, low, high, false, {}, role().effect == normscope::Role::Effect::Restarts};
    }
    void add(const char* key, const KeyDomain& domain) {
        domains.insert(QString::fromStdString(full(key)), domain);
    }
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
