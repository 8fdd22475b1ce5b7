// SPDX-License-Identifier: GPL-3.0-or-later
// The source of the libraries that only hold precompiled headers (NormscopeTargets.cmake).
