// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.ddstore.types.DDStoreException;

/**
 * The result of a run of DLIO with one accelerator: lists have one value per epoch.
 *
 * @param steps number of steps of an epoch
 * @param utilisation accelerator utilisation in percent, by DLIO
 * @param samplesPerSecond throughput, by DLIO, which counts all steps and the whole time
 * @param ourUtilisation utilisation in percent, by our arithmetic from DLIO's times of steps
 * @param ourSamplesPerSecond throughput without the first step, likewise
 * @param isSuccess whether DLIO calls the utilisation a success
 */
record DlioReport(
    int steps,
    List<Double> utilisation,
    List<Double> samplesPerSecond,
    List<Double> ourUtilisation,
    List<Double> ourSamplesPerSecond,
    boolean isSuccess) {
  /**
   * Reads the files that DLIO has written.
   *
   * @param folder DLIO's output folder
   * @param batch samples of a batch
   * @throws DDStoreException if they are not as those of release 2.0.0
   */
  static DlioReport read(Path folder, int batch) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    JsonNode metric = mapper.readTree(folder.resolve("summary.json").toFile()).path("metric");
    JsonNode output = mapper.readTree(folder.resolve("0_output.json").toFile());
    JsonNode epochs = mapper.readTree(folder.resolve("per_epoch_stats.json").toFile());
    List<Double> utilisation = numbers(metric.path("train_au_percentage"));
    List<Double> throughput = numbers(metric.path("train_throughput_samples_per_second"));
    List<Double> ours = new ArrayList<>();
    List<Double> oursPerSecond = new ArrayList<>();
    int steps = 0;
    for (int epoch = 1; epoch <= utilisation.size(); epoch++) {
      JsonNode times = output.path(Integer.toString(epoch));
      List<Double> computes = numbers(times.path("compute").path("block1"));
      List<Double> steptimes = numbers(times.path("proc").path("block1"));
      steps = steptimes.size();
      JsonNode block = epochs.path(Integer.toString(epoch)).path("block1");
      double seconds = seconds(block) - steptimes.get(0);
      double compute = computes.stream().skip(1).mapToDouble(Double::doubleValue).sum();
      ours.add(100 * compute / seconds);
      oursPerSecond.add((steps - 1) * batch / seconds);
    }
    if (steps == 0 || throughput.size() != utilisation.size()) {
      throw new DDStoreException("no utilisation and throughput in " + folder);
    }
    return new DlioReport(
        steps,
        utilisation,
        throughput,
        ours,
        oursPerSecond,
        metric.path("train_au_meet_expectation").asText().equals("success"));
  }

  private static double seconds(JsonNode block) {
    return Duration.between(
                LocalDateTime.parse(block.path("start").asText()),
                LocalDateTime.parse(block.path("end").asText()))
            .toNanos()
        / 1e9;
  }

  private static List<Double> numbers(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asDouble).toList();
  }
}
