/**
 * Collectives between the ranks of one group: {@link org.ddstore.collective.Communicator} and its
 * two homes, the threads of one JVM ({@link org.ddstore.collective.LocalGroup}) and the processes
 * of one host ({@link org.ddstore.collective.SharedMemoryEndpoint}).
 */
package org.ddstore.collective;
