// SPDX-License-Identifier: Apache-2.0
/** The public API: the store, its variables and its readers. */
package org.ddstore;
