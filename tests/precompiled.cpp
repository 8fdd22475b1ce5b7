// SPDX-License-Identifier: GPL-3.0-or-later
// The source of the precompiled headers of the tests (cmake/NormscopeTargets.cmake).
