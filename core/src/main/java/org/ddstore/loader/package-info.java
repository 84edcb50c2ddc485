/**
 * Turns the samples of {@link org.ddstore.sampling} into batches ahead of time: {@link
 * org.ddstore.loader.Loader}.
 */
package org.ddstore.loader;
