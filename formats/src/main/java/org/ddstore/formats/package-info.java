// SPDX-License-Identifier: Apache-2.0
/**
 * Files of samples as DataFrames: what a format implements ({@link
 * org.ddstore.formats.SampleFormat}) and the values that its readers return. The formats are in
 * packages of their own.
 */
package org.ddstore.formats;
