// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.ddstore.Variable;
import org.ddstore.spark.resident.LoaderWatch;

/**
 * The rows of a store that a task reads.
 *
 * @param store name of the store; empty if it ends with the job and has no name
 * @param rows rows of the store
 * @param digest digest of the rows
 * @param loaders times of the loaders of these rows
 */
record StoreRows(String store, Variable rows, String digest, LoaderWatch loaders) {
  StoreRows(String store, Variable rows, String digest) {
    this(store, rows, digest, new LoaderWatch());
  }
}
