// SPDX-License-Identifier: Apache-2.0
/**
 * Loaders that turn the samples of {@link org.ddstore.sampling} into batches ahead of time; the
 * entry point is {@link org.ddstore.loader.Loader}.
 */
package org.ddstore.loader;
