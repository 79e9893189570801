# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs: Sinter's headers, its library, and the package that
# find_package(Sinter 0.2) finds, in three components of the same names as the package's:
#   headers  the headers alone, for whoever plans and checks recipes without training
#   sinter   the library, sinter_add_recipe(), and bin/sinter-launch (Sinter::launch)
#   libtorch what computes layers by LibTorch, and what finds LibTorch; not there where Sinter was
#            built without (SINTER_WITH_LIBTORCH)
# The installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Sinter")

# Builds targets, when COMPONENT is installed, where the file of one is missing: ./sinter builds only what a verb needs.
function(sinter_build_before_install component)
  foreach(target IN LISTS ARGN)
    install(CODE "
    if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
      message(STATUS \"Building ${target}, which is to be installed\")
      execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --config $<CONFIG> --target ${target}
        COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT ${component})
  endforeach()
endfunction()
sinter_build_before_install(sinter sinter sinter_launch)
if(SINTER_WITH_LIBTORCH)
  sinter_build_before_install(libtorch sinter_autograd)
endif()

set_target_properties(sinter_headers PROPERTIES EXPORT_NAME headers)
target_include_directories(sinter_headers INTERFACE
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(TARGETS sinter_headers EXPORT SinterHeaders COMPONENT headers)
install(DIRECTORY include/sinter DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT headers
  FILES_MATCHING PATTERN "*.hpp")
install(TARGETS sinter EXPORT SinterLibrary ARCHIVE COMPONENT sinter)
set_target_properties(sinter_launch PROPERTIES EXPORT_NAME launch)
install(TARGETS sinter_launch EXPORT SinterLibrary RUNTIME COMPONENT sinter)

configure_package_config_file(cmake/SinterConfig.cmake.in SinterConfig.cmake
  INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(SinterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SinterConfig.cmake" "${PROJECT_BINARY_DIR}/SinterConfigVersion.cmake"
  cmake/libraries.cmake DESTINATION "${package_folder}" COMPONENT headers)
install(FILES cmake/sinter_add_recipe.cmake DESTINATION "${package_folder}" COMPONENT sinter)
if(SINTER_WITH_LIBTORCH)
  set_target_properties(sinter_autograd PROPERTIES EXPORT_NAME autograd)
  install(TARGETS sinter_autograd EXPORT SinterAutograd ARCHIVE COMPONENT libtorch)
  install(EXPORT SinterAutograd NAMESPACE Sinter:: DESTINATION "${package_folder}" COMPONENT libtorch)
  install(FILES cmake/libtorch.cmake cmake/locate_libtorch.cmake cmake/cache_folder.cmake
    cmake/libtorch.txt scripts/fetch_libtorch.py scripts/wheels.py DESTINATION "${package_folder}" COMPONENT libtorch)
endif()
if(SINTER_ARROW_FOLDER)
  install(FILES cmake/arrow.cmake DESTINATION "${package_folder}" COMPONENT sinter)
endif()
install(EXPORT SinterHeaders NAMESPACE Sinter:: DESTINATION "${package_folder}" COMPONENT headers)
install(EXPORT SinterLibrary NAMESPACE Sinter:: DESTINATION "${package_folder}" COMPONENT sinter)

# Sinter's licence, and those of the libraries whose code is compiled into Sinter's.
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT headers)
get_property(debian_packages GLOBAL PROPERTY SINTER_DEBIAN_PACKAGES)
list(REMOVE_DUPLICATES debian_packages)
list(REMOVE_ITEM debian_packages doctest-dev)
foreach(package IN LISTS debian_packages)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    install(FILES "/usr/share/doc/${package}/copyright" RENAME "${package}"
      DESTINATION "${CMAKE_INSTALL_DOCDIR}/libraries" COMPONENT sinter)
  endif()
endforeach()
