// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.Serializable;
import java.util.List;
import org.apache.commons.math3.stat.StatUtils;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.spark.config.ByteSize;

/**
 * The steps of a training beside their ceiling, see {@link ReplayMeasurement}.
 *
 * @param transport transport of rows of other processes; {@code memory} if there are none
 * @param remoteShare share of rows, in [0, 1], that came over the transport
 * @param rounds time per row of the store in each round, in microseconds
 * @param ceilingRounds the same of the ceiling
 */
@SuppressWarnings("ArrayRecordComponent") // raw samples, which nobody compares
record ReplayResult(
    String transport,
    int rowBytes,
    int batch,
    double remoteShare,
    @JsonIgnore double[] rounds,
    @JsonIgnore double[] ceilingRounds,
    long mismatches)
    implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String CEILING = "memcpy and sockets";

  @JsonProperty
  double microsPerRow() {
    return StatUtils.percentile(rounds, 50);
  }

  @JsonProperty
  double ceilingMicrosPerRow() {
    return StatUtils.percentile(ceilingRounds, 50);
  }

  /** Returns the share of the ceiling's speed that the store reaches, median of the rounds. */
  @JsonProperty
  double shareOfCeiling() {
    return 1 / figures().get(0).ratio();
  }

  List<Figure> figures() {
    String section = "a training step replayed, " + transport;
    String subject = "%s, batches of %,d".formatted(ByteSize.format(rowBytes), batch);
    return List.of(
        Figure.of(section, subject, Figure.DDSTORE, "µs/row", rounds)
            .to(CEILING, ceilingRounds)
            .wrong(mismatches),
        Figure.of(section, subject, CEILING, "µs/row", ceilingRounds)
            .to(CEILING, ceilingRounds)
            .asLimit());
  }
}
