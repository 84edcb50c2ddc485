/**
 * Reads another rank's memory: the interface of a backend, the read plan, and reads on one host.
 */
package org.ddstore.transport;
