package org.ddstore.spark.source;

/** Locations of the fields of a batch whose memory stays valid while any thread can read it. */
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
