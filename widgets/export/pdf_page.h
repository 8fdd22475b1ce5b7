// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QSizeF>
#include <QString>
#include <functional>

class QPainter;

namespace normscope::widgets {

/// A PDF of one page of exactly this size, without margins and without a date: the same bytes for the same
/// drawing in any process. `paint` draws in units of 1/720 inch. Fonts are embedded; `metadata` is kept as
/// the XMP description. GUI thread; throws SystemError where painting fails.
QByteArray pdfPage(const QSizeF& size_mm, const QString& title, const QString& metadata,
                   const std::function<void(QPainter&)>& paint);

}  // namespace normscope::widgets
