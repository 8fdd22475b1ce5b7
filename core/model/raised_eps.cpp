// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/model/transformer.h"

#include <algorithm>
#include <cmath>

namespace normscope {

template <class T>
double norm_eps(const Transformer<T>& model, NormSite::Place place, int sublayer) {
    const std::vector<double>& raised = model.raised_eps();
    for (std::size_t i = 0; i < raised.size(); ++i)
        if (const NormSite& site = model.sites()[i]; site.place == place && site.sublayer == sublayer)
            return std::max(model.numerics.eps, raised[i]);
    return model.numerics.eps;
}

template <class T>
void Transformer<T>::raise_eps(std::vector<double> by_site) {
    if (!by_site.empty() && by_site.size() != sites_.size())
        throw InputError("raised ε", "has " + std::to_string(by_site.size()) + " values",
                         std::to_string(sites_.size()) + ", one per norm");
    for (const double eps : by_site)
        if (!(eps >= 0 && std::isfinite(eps)))
            throw InputError("raised ε", plain_number(eps) + " is out of range", "a finite number from 0");
    raised_eps_ = std::move(by_site);
}

template <class T>
std::vector<T> Transformer<T>::eps_of_all() const {
    const int sublayers = static_cast<int>(rules_.size());
    std::vector<T> all(eps_entries(sublayers), static_cast<T>(numerics.eps));
    for (std::size_t i = 0; i < raised_eps_.size(); ++i)
        all[eps_index(sites_[i].place, sites_[i].sublayer, sublayers)] =
            static_cast<T>(std::max(numerics.eps, raised_eps_[i]));
    return all;
}

#define NORMSCOPE_INSTANTIATE(T)                                           \
    template double norm_eps(const Transformer<T>&, NormSite::Place, int); \
    template void Transformer<T>::raise_eps(std::vector<double>);          \
    template std::vector<T> Transformer<T>::eps_of_all() const;
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
