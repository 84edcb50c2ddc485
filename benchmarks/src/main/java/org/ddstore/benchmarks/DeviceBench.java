// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.Progress;
import org.ddstore.memory.DeviceChoice;
import org.ddstore.memory.Devices;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that measures copies of batches to a device, pinned against pageable memory. */
@Command(
    name = "device",
    mixinStandardHelpOptions = true,
    description = {
      "Copies a batch of a loader to a GPU, from pinned and from pageable memory in turns, and"
          + " compares the copy with its source.",
      "Needs the CUDA driver and a GPU; without one it names what is missing."
    })
final class DeviceBench extends Bench {
  private static final int MAX_BATCH_MB = 1024;

  @Option(
      names = "--batch-mb",
      paramLabel = "MB",
      split = ",",
      description = "Sizes of a batch in MiB; ${DEFAULT-VALUE} by default.")
  private List<Integer> batchMb = List.of(1, 16, 256);

  @Option(
      names = "--device",
      paramLabel = "N",
      description =
          "Number of the device; by default that of LOCAL_RANK, or the first. Both must agree.")
  private Integer device;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Duration of each measurement in seconds; ${DEFAULT-VALUE} by default.")
  private double seconds = 2;

  @Override
  public Integer call() {
    OptionRange.checkAll(command, "--batch-mb", batchMb, 1, MAX_BATCH_MB);
    OptionRange.check(command, "--device", device == null ? 0 : device, 0, Integer.MAX_VALUE);
    OptionRange.checkSeconds(command, seconds);
    Devices devices = Devices.ofThisProcess();
    if (devices.count() == 0) {
      throw new DDStoreException(
          "bench device needs a GPU and its driver: " + devices.description());
    }
    OptionalInt configured = device == null ? OptionalInt.empty() : OptionalInt.of(device);
    String localRank = System.getenv(Devices.LOCAL_RANK);
    int chosen = DeviceChoice.of(configured, List.of(), localRank, devices).require();
    List<DeviceCopies.Result> results = new ArrayList<>();
    long mismatches = 0;
    String hostMemory = "";
    try (Progress progress = progress(batchMb.size())) {
      for (int i = 0; i < batchMb.size(); i++) {
        try (DeviceCopies copies = new DeviceCopies(chosen, (long) batchMb.get(i) << 20)) {
          results.addAll(copies.measure(seconds));
          mismatches += copies.mismatches();
          hostMemory = copies.hostMemory();
        }
        progress.stepTo(i + 1);
      }
    }
    table(
        "batch, memory, GB/s, call µs, ratio",
        results,
        result ->
            List.of(
                ByteSize.format(result.batchBytes()),
                result.memory(),
                fixed(2, result.gbPerSecond()),
                fixed(2, result.callMicros()),
                fixed(2, result.ratioToPageable())));
    line("batches to device %d; pinned memory: %s", chosen, hostMemory);
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("device", chosen);
    summary.put("hostMemory", hostMemory);
    return finish(mismatches, results, summary);
  }
}
