// SPDX-License-Identifier: GPL-3.0-or-later
// The source that the precompiled headers of the tests hang on (cmake/NormscopeTargets.cmake).
