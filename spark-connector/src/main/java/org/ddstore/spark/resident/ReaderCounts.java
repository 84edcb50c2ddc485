package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.ddstore.ReadStatistics;
import org.ddstore.types.ReadPath;

/** The read counts of all readers of one kind, both ended and active. */
final class ReaderCounts {
  private final Map<ReadPath, ReadStatistics> ended = new EnumMap<>(ReadPath.class);
  private final List<Supplier<List<ReadStatistics>>> reading = new ArrayList<>();

  ReaderCounts() {
    for (ReadPath path : ReadPath.values()) {
      ended.put(path, ReadStatistics.none(path));
    }
  }

  synchronized void begin(Supplier<List<ReadStatistics>> reader) {
    reading.add(reader);
  }

  synchronized void end(Supplier<List<ReadStatistics>> reader) {
    if (reading.remove(reader)) {
      reader.get().forEach(last -> ended.merge(last.path(), last, ReadStatistics::plus));
    }
  }

  /** Returns the sum of all readers over a path. */
  synchronized ReadStatistics sum(ReadPath path) {
    ReadStatistics sum = ended.get(path);
    for (Supplier<List<ReadStatistics>> reader : reading) {
      for (ReadStatistics now : reader.get()) {
        sum = now.path() == path ? sum.plus(now) : sum;
      }
    }
    return sum;
  }
}
