package org.ddstore.spark.source;

/** The fields of a batch in memory that stays valid as long as a thread may read the batch. */
record LeasedPlaces(FieldPlaces places, ReaderThreads readers) implements FieldPlaces {
  @Override
  public Places fixed(int field) {
    return places.fixed(field).readBy(readers);
  }

  @Override
  public Places ragged(int field) {
    return places.ragged(field).readBy(readers);
  }

  @Override
  public int[] counts(int field) {
    return places.counts(field);
  }

  @Override
  public boolean lasting() {
    return places.lasting();
  }
}
