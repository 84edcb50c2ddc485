package org.ddstore.examples;

import java.io.Serializable;
import java.util.List;
import org.ddstore.sampling.CoverageReceipt;

/**
 * What a rank of {@link Train} has to say.
 *
 * @param losses the mean over all ranks, of each epoch
 * @param receipts of each epoch
 * @param isExact if all receipts are
 * @param parameters CRC-32 of the parameters at the end, by rank
 */
record Trained(
    int rank, List<Double> losses, List<String> receipts, boolean isExact, List<String> parameters)
    implements Serializable {
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
