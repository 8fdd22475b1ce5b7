// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/clip.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

std::optional<QLineF> clipLine(const QLineF& line, const QRectF& box) {
    double enter = 0, leave = 1;
    // Each side: p is the speed towards the outside, q the distance to the side.
    const double p[] = {-line.dx(), line.dx(), -line.dy(), line.dy()};
    const double q[] = {line.x1() - box.left(), box.right() - line.x1(), line.y1() - box.top(),
                        box.bottom() - line.y1()};
    for (int side = 0; side < 4; ++side) {
        if (p[side] == 0) {
            if (q[side] < 0) return std::nullopt;
        } else {
            const double t = q[side] / p[side];
            (p[side] < 0 ? enter : leave) = p[side] < 0 ? std::max(enter, t) : std::min(leave, t);
        }
    }
    if (enter > leave) return std::nullopt;
    return QLineF(enter == 0 ? line.p1() : line.pointAt(enter), leave == 1 ? line.p2() : line.pointAt(leave));
}

std::vector<QPolygonF> clipPolyline(const QPolygonF& line, const QRectF& box) {
    std::vector<QPolygonF> pieces;
    if (line.size() == 1) {
        if (box.contains(line.front())) pieces.push_back(line);
        return pieces;
    }
    const bool inside = std::all_of(line.begin(), line.end(), [&box](const QPointF& p) {
        return p.x() >= box.left() && p.x() <= box.right() && p.y() >= box.top() && p.y() <= box.bottom();
    });
    if (inside && !line.isEmpty()) return {line};  // as nearly always: shared, not copied
    bool open = false;
    for (qsizetype i = 1; i < line.size(); ++i) {
        const auto part = clipLine(QLineF(line[i - 1], line[i]), box);
        if (!part) {
            open = false;
            continue;
        }
        if (!open) pieces.push_back(QPolygonF{part->p1()});
        pieces.back().append(part->p2());
        open = part->p2() == line[i];
    }
    return pieces;
}

QPolygonF clipPolygon(const QPolygonF& polygon, const QRectF& box) {
    QPolygonF in = polygon;
    // Signed distance into the box from each side.
    const auto inside = [&box](const QPointF& p, int side) {
        switch (side) {
            case 0:
                return p.x() - box.left();
            case 1:
                return box.right() - p.x();
            case 2:
                return p.y() - box.top();
            default:
                return box.bottom() - p.y();
        }
    };
    for (int side = 0; side < 4 && !in.isEmpty(); ++side) {
        QPolygonF out;
        for (qsizetype i = 0; i < in.size(); ++i) {
            const QPointF a = in[i], b = in[(i + 1) % in.size()];
            const double da = inside(a, side), db = inside(b, side);
            if (da >= 0) out.append(a);
            if ((da >= 0) != (db >= 0)) out.append(a + (b - a) * (da / (da - db)));
        }
        in = out;
    }
    return in;
}

QVector<QLineF> hatch(const QRectF& box, double spacing) {
    QVector<QLineF> lines;
    if (box.isEmpty()) return lines;
    const double reach = box.height();
    // Anchored to the plane, not to the box, so that neighbouring boxes hatch as one.
    const double first = std::floor((box.left() + box.top()) / spacing) * spacing;
    for (double c = first; c < box.right() + box.bottom(); c += spacing) {
        const QLineF line(c - box.bottom(), box.bottom(), c - box.bottom() + reach, box.top());
        if (const auto part = clipLine(line, box); part && part->length() > 0) lines.append(*part);
    }
    return lines;
}

QVector<QLineF> dashes(const QPolygonF& line, const QVector<qreal>& pattern) {
    QVector<QLineF> out;
    int index = 0;
    double left = pattern.isEmpty() ? 0 : pattern[0];
    for (qsizetype i = 1; i < line.size(); ++i) {
        const QLineF piece(line[i - 1], line[i]);
        if (pattern.isEmpty()) {
            out.append(piece);
            continue;
        }
        const double length = piece.length();
        for (double at = 0; at < length;) {
            const double step = std::min(left, length - at);
            if (index % 2 == 0)
                out.append(QLineF(piece.pointAt(at / length), piece.pointAt((at + step) / length)));
            at += step;
            left -= step;
            if (left <= 0) {
                index = (index + 1) % static_cast<int>(pattern.size());
                left = pattern[index];
            }
        }
    }
    return out;
}

}  // namespace normscope::widgets
