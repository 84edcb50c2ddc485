// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

/**
 * What a program of a peer reads, from a file of JSON.
 *
 * @param rows number of rows, dense and sparse
 * @param slowRows rows that a peer may hold that converts or reads one row at a time
 * @param rowBytes size of a dense row, a multiple of 4
 * @param batch rows per batch
 * @param seed seed of random rows
 * @param npy file of the dense rows, float32 [rows, rowBytes / 4]
 * @param csr folder of the sparse rows: columns.npy (int32), values.npy (float32), offsets.npy
 *     (int64)
 * @param scratch empty folder of the peer
 * @param handle file of the handle of the dense rows in a store, or null
 * @param sparseHandle likewise of the sparse rows
 */
record PeerTask(
    int rows,
    int slowRows,
    int rowBytes,
    int batch,
    long seed,
    String npy,
    String csr,
    String scratch,
    String handle,
    String sparseHandle) {

  PeerTask of(String folder, String dense, String sparse) {
    return new PeerTask(rows, slowRows, rowBytes, batch, seed, npy, csr, folder, dense, sparse);
  }
}
