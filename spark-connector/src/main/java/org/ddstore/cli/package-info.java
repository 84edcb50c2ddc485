/** The command line. */
package org.ddstore.cli;
