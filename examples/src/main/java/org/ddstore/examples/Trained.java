// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.Serializable;
import java.util.List;
import org.ddstore.sampling.CoverageReceipt;

/**
 * The result of one rank of {@link Train}.
 *
 * @param losses mean loss over all ranks, per epoch
 * @param receipts coverage receipt of each epoch
 * @param isExact whether all receipts are exact
 * @param parameters CRC-32 of the final parameters, by rank
 */
record Trained(
    int rank, List<Double> losses, List<String> receipts, boolean isExact, List<String> parameters)
    implements Serializable {
  /** Returns the result of an epoch as text. */
  static String result(double loss, CoverageReceipt receipt) {
    return "loss %.4f; %s".formatted(loss, receipt);
  }

  static Trained of(
      int rank, List<Double> losses, List<CoverageReceipt> receipts, List<String> parameters) {
    return new Trained(
        rank,
        List.copyOf(losses),
        receipts.stream().map(CoverageReceipt::toString).toList(),
        receipts.stream().allMatch(CoverageReceipt::isExact),
        parameters);
  }
}
