// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.ddstore.Variable;

/**
 * The rows of a store that a task reads.
 *
 * @param store name of the store; empty if it ends with the job and has no name
 * @param rows rows of the store
 * @param digest digest of the rows
 */
record StoreRows(String store, Variable rows, String digest) {}
