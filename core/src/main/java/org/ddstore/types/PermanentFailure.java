package org.ddstore.types;

/**
 * Marks an exception whose cause a new attempt cannot remove: the same input fails in the same way
 * again. Jobs that are submitted again after a failure stop at such an exception.
 */
public interface PermanentFailure {}
