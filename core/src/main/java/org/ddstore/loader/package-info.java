// SPDX-License-Identifier: Apache-2.0
/** Loaders of batches ahead of time: entry point {@link org.ddstore.loader.Loader}. */
package org.ddstore.loader;
